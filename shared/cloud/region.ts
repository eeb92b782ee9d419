/** Where services can stand. Source: the regions page of tigerdata.com/docs. The two az- regions have no VPC. */
export const regions = [
  'ap-south-1',
  'ap-southeast-1',
  'ap-southeast-2',
  'ap-northeast-1',
  'ca-central-1',
  'eu-central-1',
  'eu-central-2',
  'eu-west-1',
  'eu-west-2',
  'sa-east-1',
  'us-east-1',
  'us-east-2',
  'us-west-2',
  'az-eastus2',
  'az-westeurope',
] as const
export type Region = (typeof regions)[number]

export const defaultRegion = 'us-east-1' satisfies Region

export const isRegion = (text: string): text is Region => (regions as readonly string[]).includes(text)
