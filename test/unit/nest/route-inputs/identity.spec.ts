import { saysWhoAsks } from '../../../../lib/nest/route/inputs/identity.js';

const lines = (...names: string[]) => names.flatMap((line) => line.split(' '));

describe('A name says who asks', () => {
  it.each(
    lines(
      'user currentUser req.user user_id userId userID username userUid superuser',
      'uid sid connect.sid PHPSESSID JSESSIONID sessionid session.sig ASP.NET_SessionId __Host-sess',
      '__Secure-next-auth.session-token access_token accessToken x-auth-token oauth2_token idToken jwt JWTPayload',
      'auth auth0 auth0Token oauth authId authUser authtoken authentication authorization',
      'principal identity account accountId subject login credentials member customer customerNo',
      'tokenHash userEmail sessionData userInfo tokenClaims userContext memberKey',
    ),
  )('%s', (name) => expect(saysWhoAsks(name)).toBe(true));

  it.each(
    lines(
      'theme guide sidebar inside author authority authors assessment locale tenant island history id name key',
      'params query body ip url method socket client hostname',
    ),
  )('not: %s', (name) => expect(saysWhoAsks(name)).toBe(false));

  it.each(
    lines(
      'useragent userAgent user-agent customerRegion user_lang session_theme userRole accountType tokenExpiry',
      'sessionStore userCount identityProvider authority_user_lang user_id_type authenticated authMethod',
    ),
  )('not by what follows: %s', (name) => expect(saysWhoAsks(name)).toBe(false));

  it.each(
    lines(
      'isAuthenticated isUser is_member ismember hasToken has_session canLogin lastLogin maxUser',
      'remember remember_me csrf-token XSRF-TOKEN csrftoken',
    ),
  )('not for a yes or no, nor for anybody: %s', (name) => expect(saysWhoAsks(name)).toBe(false));

  it('not where it is empty, or longer than a name', () => {
    expect(saysWhoAsks('')).toBe(false);
    expect(saysWhoAsks(`${'a'.repeat(200)}-user`)).toBe(false);
  });
});
