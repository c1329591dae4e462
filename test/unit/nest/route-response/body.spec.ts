import { RouteResponse } from '../../../../lib/nest/route/route-response.js';

it('a response that is kept as text makes its body for each who asks', () => {
  const response = new RouteResponse({ status: 200, headers: [] }, undefined, '{"a":1}', undefined);
  expect(response.body).toEqual({ a: 1 });
  expect(response.body).not.toBe(response.body);
});
