import { Controller, Get } from '@nestjs/common';
import { LeaderboardService, type BestSeller } from './leaderboard.service.js';

@Controller('leaderboard')
export class LeaderboardController {
  constructor(private readonly leaderboard: LeaderboardService) {}

  @Get()
  async bestSellers(): Promise<BestSeller[]> {
    return this.leaderboard.bestSellers();
  }
}
