import type { ApiKey } from './api-key.ts'
import type { Resting } from './book.ts'
import { oneDollarTicks, type Ticks } from './decimal.ts'
import { conditionIdOf, type EventOfMarket, type Market, questionIdOf, type Tag, tokenIdOf } from './market.ts'

/** The chain that wallets sign for. */
export const sandboxChainId = 137

/**
 * A trader whose API key the sandbox knows from the start, so that signed calls work at once. The wallet is the first
 * test account of Hardhat and Anvil: its private key is public knowledge, and nothing of worth may ever be sent to it.
 */
export const sandboxTrader = {
  privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  apiKey: 'b58dfc5d-6755-40fc-bc19-bdc306e975f7',
  secret: 'ppf3gCwI9ljAD3cLVDP74bBobeMpjqt09SlNaghTq7w=',
  passphrase: 'e427bf8b7d55f15878b2d83480e7d2e3d5e66946dc8fad14690c294a084272ce',
} as const

/** Two accounts that quote both sides of every open market: the next two test accounts of Hardhat and Anvil. */
export const marketMakers = [
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
] as const

export type OwnedResting = Resting & { readonly conditionId: string; readonly owner: string }

export type Scenery = {
  readonly markets: readonly Market[]
  readonly resting: readonly OwnedResting[]
  readonly apiKeys: readonly ApiKey[]
}

const tags = {
  weather: { id: 205, label: 'Weather', slug: 'weather' },
  sports: { id: 11, label: 'Sports', slug: 'sports' },
  basketball: { id: 3087, label: 'Basketball', slug: 'basketball' },
  football: { id: 3088, label: 'Football', slug: 'football' },
  cycling: { id: 3089, label: 'Cycling', slug: 'cycling' },
  politics: { id: 311, label: 'Politics', slug: 'politics' },
  elections: { id: 312, label: 'Elections', slug: 'elections' },
  economy: { id: 401, label: 'Economy', slug: 'economy' },
  science: { id: 402, label: 'Science', slug: 'science' },
  space: { id: 403, label: 'Space', slug: 'space' },
  culture: { id: 404, label: 'Culture', slug: 'culture' },
  technology: { id: 405, label: 'Technology', slug: 'technology' },
} satisfies Record<string, Tag>

const events = {
  rain: { id: 3001, slug: 'rain-ghent', title: 'Rain in Ghent?', negRisk: false },
  gulls: { id: 3002, slug: 'gulls-at-owls', title: 'Gulls at Owls', negRisk: false },
  mayor: { id: 3003, slug: 'mayor-of-ghent', title: 'Who will be mayor of Ghent?', negRisk: true },
  rates: { id: 3004, slug: 'rate-decision', title: 'Rate decision', negRisk: false },
  probe: { id: 3005, slug: 'probe-landing', title: 'Probe landing', negRisk: false },
  festival: { id: 3006, slug: 'song-festival', title: 'Song festival', negRisk: false },
} satisfies Record<string, EventOfMarket>

type Plan = {
  readonly slug: string
  readonly question: string
  readonly event: EventOfMarket
  readonly tags: readonly Tag[]
  /** Where the makers' quotes meet and the first trade was. */
  readonly mid: Ticks
  readonly tickSize: Ticks
  readonly outcomes?: readonly [string, string]
  readonly secondsDelay?: number
  readonly baseFeeBps?: number
  readonly acceptingOrders?: false
  readonly closed?: true
}

/** Every feature of a market occurs at least once: each tick size, a matching delay, a fee, neg-risk, closed, not yet open. */
const plans: readonly Plan[] = [
  plan('rain-ghent-may', 'Will it rain in Ghent on 1 May?', events.rain, [tags.weather], 5700, 100),
  plan('rain-ghent-june', 'Will it rain in Ghent on 1 June?', events.rain, [tags.weather], 4000, 1000),
  plan('gulls-beat-owls', 'Will the Gulls beat the Owls?', events.gulls, [tags.sports, tags.basketball], 4800, 100, {
    outcomes: ['Gulls', 'Owls'],
    secondsDelay: 3,
  }),
  plan('gulls-owls-overtime', 'Gulls at Owls: overtime?', events.gulls, [tags.sports, tags.basketball], 650, 10),
  plan(
    'cup-final-penalties',
    'Will the cup final go to penalties?',
    events.gulls,
    [tags.sports, tags.football],
    2300,
    100,
  ),
  plan('mayor-ada', 'Will Ada be mayor of Ghent?', events.mayor, [tags.politics, tags.elections], 5200, 100),
  plan('mayor-bert', 'Will Bert be mayor of Ghent?', events.mayor, [tags.politics, tags.elections], 3100, 100),
  plan('mayor-cora', 'Will Cora be mayor of Ghent?', events.mayor, [tags.politics, tags.elections], 1650, 10),
  // Strict clients take a fee of 0 or 1000 only, and drop the whole page otherwise.
  plan('rate-cut', 'Will the rate be cut?', events.rates, [tags.economy], 7400, 100, { baseFeeBps: 1000 }),
  plan('rate-above-four', 'Will the rate end above four?', events.rates, [tags.economy], 125, 1),
  plan('probe-lands', 'Will the probe land this year?', events.probe, [tags.science, tags.space], 6600, 100),
  plan(
    'probe-returns',
    'Will the probe return?',
    events.probe,
    [tags.science, tags.space, tags.technology],
    5000,
    100,
    {
      acceptingOrders: false,
    },
  ),
  plan('song-festival-host-wins', 'Did the host win the song festival?', events.festival, [tags.culture], 9300, 100, {
    closed: true,
  }),
  plan(
    'time-trial-record',
    'Did the time trial see a record?',
    events.festival,
    [tags.sports, tags.cycling],
    800,
    100,
    {
      closed: true,
    },
  ),
]

function plan(
  slug: string,
  question: string,
  event: EventOfMarket,
  tagsOfMarket: readonly Tag[],
  mid: Ticks,
  tickSize: Ticks,
  rest: Partial<Plan> = {},
): Plan {
  return { slug, question, event, tags: tagsOfMarket, mid, tickSize, ...rest }
}

const dayMs = 86_400_000

/**
 * What a new venue holds: markets, resting quotes of two makers, the trader's API key.
 *
 * @param nowMs the venue's clock; open markets end after it, closed ones ended before it
 */
export function createScenery(nowMs: number): Scenery {
  const planned = plans.map((plan, at) => ({ mid: plan.mid, market: marketOf(plan, 8001 + at, nowMs) }))
  return {
    markets: planned.map(({ market }) => market),
    resting: planned.flatMap(({ market, mid }) => (isQuoted(market) ? quotesOf(market, mid) : [])),
    apiKeys: [
      {
        address: sandboxTrader.address.toLowerCase(),
        nonce: 0n,
        apiKey: sandboxTrader.apiKey,
        secret: sandboxTrader.secret,
        passphrase: sandboxTrader.passphrase,
      },
    ],
  }
}

const isQuoted = (market: Market): boolean => market.acceptingOrders && !market.closed

function marketOf(planned: Plan, id: number, nowMs: number): Market {
  const conditionId = conditionIdOf(planned.slug)
  const [first, second] = planned.outcomes ?? ['Yes', 'No']
  const closed = planned.closed ?? false
  return {
    id,
    conditionId,
    questionId: questionIdOf(planned.slug),
    slug: planned.slug,
    question: planned.question,
    event: planned.event,
    tags: planned.tags,
    tokens: [
      { tokenId: tokenIdOf(conditionId, 0), outcome: first },
      { tokenId: tokenIdOf(conditionId, 1), outcome: second },
    ],
    tickSize: planned.tickSize,
    minSize: 5_000_000n,
    negRisk: planned.event.negRisk,
    baseFeeBps: planned.baseFeeBps ?? 0,
    secondsDelay: planned.secondsDelay ?? 0,
    acceptingOrders: planned.acceptingOrders ?? !closed,
    closed,
    winner: closed ? (planned.mid > oneDollarTicks / 2 ? 0 : 1) : undefined,
    createdAtMs: nowMs - 30 * dayMs,
    endsAtMs: closed ? nowMs - dayMs : nowMs + 90 * dayMs,
    // Strict clients refuse the empty side of a market that never traded.
    lastTrade: { price: planned.mid, side: 'BUY' },
    volume: (BigInt(planned.mid) * firstTradeShares) / BigInt(oneDollarTicks),
    bookChangedAtMs: nowMs,
  }
}

const firstTradeShares = 100_000_000n

/**
 * The first maker quotes the first token on both sides; the second bids on both tokens, so that half of the book is
 * mirrored. Sizes grow away from the middle.
 */
function quotesOf(market: Market, mid: Ticks): OwnedResting[] {
  const [left, right] = marketMakers
  const { conditionId, tickSize } = market
  const highestBid = Math.ceil(mid / tickSize - 1) * tickSize
  const lowestAsk = Math.floor(mid / tickSize + 1) * tickSize
  const quotes = [0, 1, 2].flatMap((depth): OwnedResting[] => {
    const bid = highestBid - depth * tickSize
    const ask = lowestAsk + depth * tickSize
    const size = BigInt(depth + 1) * 50_000_000n
    return [
      { conditionId, owner: left, outcome: 0, side: 'BUY', price: bid, size },
      { conditionId, owner: left, outcome: 0, side: 'SELL', price: ask, size },
      { conditionId, owner: right, outcome: 0, side: 'BUY', price: bid, size: size / 2n },
      { conditionId, owner: right, outcome: 1, side: 'BUY', price: oneDollarTicks - ask, size: size / 2n },
    ]
  })
  return quotes.filter(({ price }) => price >= tickSize && price <= oneDollarTicks - tickSize)
}
