/** Kinds of instruments by the number that the message carries. */
export const quoteTypes = {
  EQUITY: 8,
  INDEX: 9,
  MUTUALFUND: 11,
  OPTION: 13,
  CURRENCY: 14,
  BOND: 17,
  FUTURE: 18,
  ETF: 20,
  COMMODITY: 23,
  CRYPTOCURRENCY: 41,
} as const

export type QuoteType = keyof typeof quoteTypes

/** An instrument that the simulator makes up. */
export type Instrument = {
  readonly symbol: string
  readonly type: QuoteType
  readonly name: string
  readonly exchange: string
  readonly currency: string
  /** Price around which the days begin. */
  readonly price: number
  /** Decimals. */
  readonly priceHint: number
  /** Units traded in a second, on average; 0 = the kind has no volume. */
  readonly volumePerSecond: number
  readonly option?: { readonly underlying: string; readonly strike: number; readonly put: boolean }
}

const of = (
  type: QuoteType,
  exchange: string,
  currency: string,
  priceHint: number,
  list: readonly (readonly [symbol: string, name: string, price: number, volumePerSecond: number])[],
): Instrument[] =>
  list.map(([symbol, name, price, volumePerSecond]) => {
    return { symbol, type, name, exchange, currency, price, priceHint, volumePerSecond }
  })

/** 32 instruments, none of them real, of every kind that the feed carries. */
export const universe: readonly Instrument[] = [
  ...of('EQUITY', 'NMS', 'USD', 2, [
    ['ORBT', 'Orbital Dynamics Inc.', 48.37, 61],
    ['QNTA', 'Quanta Grid Corp.', 212.4, 120],
    ['HLXO', 'Helixo Therapeutics', 17.85, 40],
    ['FRNK', 'Frankly Foods', 63.1, 22],
    ['VLTR', 'Voltera Motors', 305.75, 210],
    ['NIMB', 'Nimbus Freight', 91.02, 35],
  ]),
  ...of('EQUITY', 'NYQ', 'USD', 2, [
    ['BRDG.A', 'Bridgewell Holdings A', 541.6, 8],
    ['CPRK', 'Copper Creek Mining', 12.44, 95],
    ['SOLV', 'Solvent Brothers', 77.3, 28],
  ]),
  ...of('EQUITY', 'LSE', 'GBp', 2, [['THMS.L', 'Thamesgate plc', 1284.5, 14]]),
  ...of('ETF', 'PCX', 'USD', 2, [
    ['WRLD', 'Whole World Index Fund', 104.2, 150],
    ['BNDX1', 'Broad Bond Fund', 72.9, 60],
    ['ROBO2', 'Automation Leaders Fund', 58.15, 18],
  ]),
  ...of('INDEX', 'SNP', 'USD', 2, [
    ['^ORB', 'Orbit 500', 5917.25, 0],
    ['^TCH', 'Tech Hundred', 20_840.1, 0],
    ['^SML', 'Small Companies 2000', 2264.7, 0],
  ]),
  ...of('MUTUALFUND', 'NAS', 'USD', 2, [
    ['CALMX', 'Calm Balanced Fund', 34.12, 0],
    ['GRWTX', 'Growth Partners Fund', 128.66, 0],
  ]),
  ...of('CURRENCY', 'CCY', 'USD', 4, [
    ['EURXAU=X', 'EUR/XAU', 0.000412, 0],
    ['ZEDUSD=X', 'ZED/USD', 1.0842, 0],
    ['USDKRN=X', 'USD/KRN', 10.4471, 0],
    ['GBPZED=X', 'GBP/ZED', 1.1926, 0],
  ]).map((pair) => (pair.price < 0.01 ? { ...pair, priceHint: 6 } : pair)),
  ...of('FUTURE', 'NYM', 'USD', 2, [
    ['QW=F', 'Quartz Oil Future', 71.03, 33],
    ['GL=F', 'Gold Future', 2644.3, 12],
  ]),
  ...of('COMMODITY', 'CMX', 'USD', 2, [['WHEATZ', 'Wheat, delivered', 548.25, 6]]),
  ...of('CRYPTOCURRENCY', 'CCC', 'USD', 2, [
    ['ZNC-USD', 'Zincoin USD', 1821.65, 211_500],
    ['ORB-USD', 'Orbcoin USD', 94_745.08, 402_000],
    ['LUM-USD', 'Lumen Dollar USD', 1.01, 88_000],
    ['DGT-USD', 'Digit USD', 0.42, 31_000],
  ]).map((coin) => (coin.price < 2 ? { ...coin, priceHint: 4 } : coin)),
  ...of('OPTION', 'OPR', 'USD', 2, [
    ['ORBT271217C00050000', 'ORBT Dec 2027 50.000 call', 3.4, 1],
    ['ORBT271217P00050000', 'ORBT Dec 2027 50.000 put', 4.15, 1],
  ]).map((option, index) => ({ ...option, option: { underlying: 'ORBT', strike: 50, put: index === 1 } })),
  ...of('BOND', 'BND', 'USD', 3, [['TRSY10', 'Treasury 10 years', 98.625, 0]]),
]

export const instruments: ReadonlyMap<string, Instrument> = new Map(universe.map((item) => [item.symbol, item]))
