import { Injectable } from '@nestjs/common';
import { Cached, UncacheableValueError } from 'nestjs-stampede-cache';
import { errorOf } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

class Booking {
  constructor(
    readonly from: Date,
    readonly nights: number,
  ) {}

  get until(): Date {
    return new Date(this.from.getTime() + this.nights * 86_400_000);
  }

  price(perNight: number): number {
    return this.nights * perNight;
  }
}

class Room {
  bookings: Booking[] = [];
  parent?: Room;
}

const booking = () => new Booking(new Date(0), 2);

@Injectable()
class Bookings {
  @Cached()
  async plain(): Promise<Booking> {
    return booking();
  }

  @Cached({ type: Booking })
  async typed(): Promise<Booking> {
    return booking();
  }

  @Cached({ type: { 'rooms[].bookings[]': Booking } })
  async nested() {
    return { rooms: [{ bookings: [booking(), booking()] }] };
  }

  @Cached({ onUncacheable: 'bypass' })
  async entity(): Promise<Room> {
    const room = new Room();
    room.parent = room;
    return room;
  }
}

describe('FC-102: class instances', () => {
  it('without their class are refused on the miss, with the name of the type, the method and the remedy', async () => {
    const app = await here.app({ providers: [Bookings] });
    for (const _ of ['first', 'second']) {
      const error = await errorOf(app.get(Bookings).plain());
      expect(error).toBeInstanceOf(UncacheableValueError);
      expect(error.message).toMatch(/Bookings\.plain.*Booking.*type/s);
    }
    expect(await here.entries()).toEqual([]);
  });

  it.each(['miss', 'hit', 'hit in another process'])(
    'with their class keep methods and getters: %s',
    async (time) => {
      const first = await here.app({ providers: [Bookings] });
      const app = time === 'hit in another process' ? await here.app({ providers: [Bookings] }) : first;
      if (time !== 'miss') await first.get(Bookings).typed();
      const answer = await app.get(Bookings).typed();
      expect(answer).toBeInstanceOf(Booking);
      expect(answer.until).toEqual(new Date(2 * 86_400_000));
      expect(answer.price(50)).toBe(100);
      const [, second] = (await app.get(Bookings).nested()).rooms[0]?.bookings ?? [];
      expect(second?.price(10)).toBe(20);
      expect(app.cache.stats().outcomes.fresh).toBe(time === 'miss' ? 0 : 1);
    },
  );

  it('errors stay errors', async () => {
    const { cache } = await here.app();
    const load = () => Object.assign(new TypeError('no such room'), { room: 5 });
    for (const _ of ['miss', 'hit']) {
      const value = await cache.getOrLoad('k', load);
      expect(value).toBeInstanceOf(TypeError);
      expect(value).toMatchObject({ message: 'no such room', room: 5 });
    }
    expect(cache.stats().outcomes.fresh).toBe(1);
  });

  it('a value with a toJSON is refused and not replaced by its JSON', async () => {
    const { cache } = await here.app();
    const error = await errorOf(cache.getOrLoad('k', () => ({ price: 1, toJSON: () => 'one' })));
    expect(error).toBeInstanceOf(UncacheableValueError);
    expect(error.message).toContain('toJSON');
  });

  it('a circular one reaches its caller with onUncacheable: bypass, every time; the warning comes once', async () => {
    const app = await here.app({ providers: [Bookings] });
    for (const _ of ['first', 'second']) {
      const room = await app.get(Bookings).entity();
      expect(room).toBeInstanceOf(Room);
      expect(room.parent).toBe(room);
    }
    expect(await here.entries()).toEqual([]);
    expect(app.cache.stats().loads.started).toBe(2);
    expect(here.lines.warnings.filter((line) => line.includes('Bookings.entity'))).toHaveLength(1);
  });

  it('a circular one is an error for its caller by default, and not for the process', async () => {
    const { cache } = await here.app();
    const load = () => {
      const self: { self?: object } = {};
      self.self = self;
      return self;
    };
    const error = await errorOf(cache.getOrLoad('k', load));
    expect(error).toBeInstanceOf(UncacheableValueError);
    expect(error.message).toMatch(/circular/);
  });
});
