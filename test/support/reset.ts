import { reset } from 'cloudflare:test'
import { afterEach } from 'vitest'

// One runtime serves every file of the project: what a test stored must not be seen by the next.
afterEach(async () => {
  await reset()
})
