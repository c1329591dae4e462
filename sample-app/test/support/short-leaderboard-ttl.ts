// Imported before the service, which reads it when its class is defined.
process.env['LEADERBOARD_TTL'] = '50ms';
