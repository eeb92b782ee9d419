import { Hono } from 'hono'
import * as z from 'zod'
import { noFaults, StreamerConnection, type StreamerOptions } from '../../shared/feed/streamer.ts'
import type { SandboxBindings, SandboxEnv } from './env.ts'

const share = z.coerce.number<string>().min(0).max(1)
const milliseconds = z.coerce.number<string>().min(0).max(86_400_000)

/** Two values around a comma. */
const halves = z
  .string()
  .regex(/^[^,]+,[^,]+$/, { error: 'two values with a comma between them' })
  .transform((text) => text.split(',') as [string, string])

const closeCode = z.coerce.number<string>().refine((code) => code === 1000 || (code >= 3000 && code <= 4999), {
  error: '1000, or 3000 to 4999',
})

/** What a client may ask for in the query: the version of the original, the rate, and faults. */
const parameters = z.object({
  version: z.enum(['1', '2']).default('1'),
  rate: z.coerce.number<string>().positive().max(50).default(1),
  drop: share.default(0),
  dup: share.default(0),
  garble: share.default(0),
  late: halves.pipe(z.tuple([share, milliseconds])).optional(),
  freeze: halves.pipe(z.tuple([milliseconds, milliseconds])).optional(),
  close: halves.pipe(z.tuple([milliseconds, closeCode])).optional(),
})

/**
 * The price streamer: bare base64 (`/`) or envelopes (`/?version=2`), no acknowledgements, no errors, silence for a
 * symbol that does not exist.
 */
export function createStreamerApp(): Hono<SandboxEnv> {
  return new Hono<SandboxEnv>().get('/', (c) => {
    if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') {
      return c.text('expected a websocket', 426, { upgrade: 'websocket', connection: 'Upgrade' })
    }
    const read = parameters.safeParse(c.req.query())
    if (!read.success) {
      const [issue] = read.error.issues
      return c.text(`${issue?.path.join('.')}: ${issue?.message}`, 400)
    }
    const { 0: client, 1: server } = new WebSocketPair()
    serve(server, optionsOf(read.data, c.env))
    return new Response(null, { status: 101, webSocket: client })
  })
}

function optionsOf(query: z.output<typeof parameters>, env: SandboxBindings): StreamerOptions {
  const { version, rate, drop, dup, garble, late, freeze, close } = query
  return {
    seed: env.SANDBOX_SEED ?? '1',
    alwaysOpen: env.SANDBOX_ALWAYS_OPEN !== '0',
    rate,
    version: version === '1' ? 1 : 2,
    faults: {
      ...noFaults,
      drop,
      dup,
      garble,
      ...(late && { late: { share: late[0], ms: late[1] } }),
      ...(freeze && { freeze: { fromMs: freeze[0], toMs: freeze[1] } }),
      ...(close && { close: { afterMs: close[0], code: close[1] } }),
    },
  }
}

/** One timer per socket; both end with it, else a plain socket would stay for ever. */
function serve(socket: WebSocket, options: StreamerOptions): void {
  const connection = new StreamerConnection(options, Date.now())
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = (code = 1000, reason = '') => {
    clearTimeout(timer)
    timer = undefined
    try {
      socket.close(code, reason)
    } catch {
      // closed already
    }
  }
  const schedule = () => {
    clearTimeout(timer)
    timer = setTimeout(onTimer, Math.max(0, connection.nextMs() - Date.now()))
  }
  const onTimer = () => {
    for (const effect of connection.due(Date.now())) {
      if (effect.do === 'close') return end(effect.code, effect.reason)
      try {
        socket.send(effect.data)
      } catch {
        return end()
      }
    }
    schedule()
  }
  socket.accept()
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') connection.onText(data, Date.now())
    schedule()
  })
  socket.addEventListener('close', () => end())
  socket.addEventListener('error', () => end())
  schedule()
}
