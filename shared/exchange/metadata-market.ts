import * as z from 'zod'

/** Members that may be null or absent, as almost every member of the metadata service may. */
const optional = <const Name extends string, Schema extends z.ZodType>(schema: Schema, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, schema.nullish()])) as unknown as Record<
    Name,
    z.ZodOptional<z.ZodNullable<Schema>>
  >

const text = z.string()
const whole = z.int()
const number = z.number()
const flag = z.boolean()
/** ISO 8601; the live service also writes `2026-05-28 05:29:05+00`. */
const time = z.string()
/** The JSON text of an array. */
const arrayText = z.string()

/** Another record in short: its id, and whatever else the service says about it. */
const Related = z.looseObject({ id: text })

const ClobReward = z.looseObject({
  ...optional(text, ['id', 'conditionId', 'assetAddress', 'startDate', 'endDate']),
  ...optional(number, ['rewardsAmount', 'rewardsDailyRate']),
})

const FeeSchedule = z.looseObject({
  ...optional(number, ['exponent', 'rate', 'rebateRate']),
  ...optional(flag, ['takerOnly']),
})

/** A market as the metadata service describes it (public OpenAPI of December 2025 and later; unknown members are kept). */
export const MetadataMarket = z
  .looseObject({
    id: text,
    conditionId: text,
    marketMakerAddress: text,
    // Identity
    ...optional(text, ['slug', 'question', 'questionID', 'description', 'category', 'resolutionSource']),
    ...optional(text, ['marketType', 'formatType', 'groupItemTitle', 'groupItemThreshold', 'groupItemRange']),
    ...optional(text, ['sportsMarketType', 'gameId', 'teamAID', 'teamBID']),
    ...optional(whole, ['marketGroup']),
    ...optional(number, ['line']),
    // Outcomes
    ...optional(arrayText, ['outcomes', 'shortOutcomes', 'outcomePrices', 'clobTokenIds', 'umaResolutionStatuses']),
    // State
    ...optional(flag, ['active', 'closed', 'archived', 'new', 'featured', 'restricted', 'ready', 'funded', 'approved']),
    ...optional(flag, ['acceptingOrders', 'enableOrderBook', 'notificationsEnabled', 'manualActivation']),
    ...optional(flag, ['automaticallyActive', 'automaticallyResolved', 'clearBookOnStart', 'pendingDeployment']),
    ...optional(flag, ['deploying', 'rfqEnabled', 'negRisk', 'negRiskOther', 'cyom', 'feesEnabled']),
    ...optional(flag, ['holdingRewardsEnabled']),
    ...optional(text, ['negRiskMarketID', 'negRiskRequestID', 'feeType']),
    ...optional(FeeSchedule, ['feeSchedule']),
    // Order book
    ...optional(number, ['orderPriceMinTickSize', 'orderMinSize', 'bestBid', 'bestAsk', 'spread', 'lastTradePrice']),
    ...optional(number, ['competitive', 'rewardsMinSize', 'rewardsMaxSpread']),
    ...optional(whole, ['secondsDelay', 'makerBaseFee', 'takerBaseFee', 'score']),
    ...optional(z.array(ClobReward), ['clobRewards']),
    // Volume: these two are text, unlike an event's
    ...optional(text, ['volume', 'liquidity']),
    ...optional(number, ['volumeNum', 'volumeClob', 'volumeAmm', 'liquidityNum', 'liquidityClob', 'liquidityAmm']),
    ...optional(number, [
      'volume24hr',
      'volume24hrClob',
      'volume24hrAmm',
      'volume1wk',
      'volume1wkClob',
      'volume1wkAmm',
    ]),
    ...optional(number, ['volume1mo', 'volume1moClob', 'volume1moAmm', 'volume1yr', 'volume1yrClob', 'volume1yrAmm']),
    // Price change
    ...optional(number, ['oneHourPriceChange', 'oneDayPriceChange', 'oneWeekPriceChange', 'oneMonthPriceChange']),
    ...optional(number, ['oneYearPriceChange']),
    // Time
    ...optional(time, ['startDate', 'endDate', 'createdAt', 'updatedAt', 'eventStartTime', 'readyTimestamp']),
    ...optional(time, ['fundedTimestamp', 'acceptingOrdersTimestamp', 'deployingTimestamp']),
    ...optional(time, ['scheduledDeploymentTimestamp', 'closedTime', 'gameStartTime']),
    ...optional(text, ['startDateIso', 'endDateIso', 'umaEndDate', 'umaEndDateIso']),
    ...optional(flag, ['hasReviewedDates']),
    // Resolution
    ...optional(text, ['resolvedBy', 'umaResolutionStatus', 'umaBond', 'umaReward', 'submitted_by']),
    ...optional(whole, ['customLiveness']),
    // Presentation
    ...optional(text, [
      'image',
      'icon',
      'twitterCardImage',
      'sponsorName',
      'sponsorImage',
      'chartColor',
      'seriesColor',
    ]),
    ...optional(text, ['xAxisValue', 'yAxisValue', 'lowerBound', 'upperBound', 'lowerBoundDate', 'upperBoundDate']),
    ...optional(text, ['denominationToken', 'fee', 'ammType', 'disqusThread', 'mailchimpTag', 'pastSlugs', 'creator']),
    ...optional(flag, ['showGmpSeries', 'showGmpOutcome', 'wideFormat', 'fpmmLive', 'commentsEnabled', 'readyForCron']),
    ...optional(flag, ['requiresTranslation']),
    ...optional(whole, ['curationOrder', 'createdBy', 'updatedBy']),
    ...optional(z.looseObject({}), ['imageOptimized', 'iconOptimized']),
    // Relations
    ...optional(z.array(Related), ['events', 'categories', 'tags']),
  })
  .meta({ id: 'MetadataMarket' })
