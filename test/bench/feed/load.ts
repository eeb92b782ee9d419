// The clients of all subjects: plain sockets, since a websocket library would be the bottleneck.
import { serveCommands } from './commands.ts'
import { type Audience, Crowd, type Received } from './crowd.ts'

const crowds = new Map<string, Crowd>()

function crowdOf(subject: string): Crowd {
  const crowd = crowds.get(subject)
  if (!crowd) throw new Error(`${subject} has no clients`)
  return crowd
}

const commands = {
  async enter(audience: Audience): Promise<void> {
    const crowd = new Crowd(audience)
    crowds.set(audience.subject, crowd)
    await crowd.enter()
  },
  async arm({ subject, items, takesLatency }: { subject: string; items: number; takesLatency: boolean }) {
    crowdOf(subject).arm(items, takesLatency)
  },
  finish: ({ subject }: { subject: string }): Promise<Received> => crowdOf(subject).finish(),
  async leave({ subject }: { subject: string }) {
    crowdOf(subject).leave()
    crowds.delete(subject)
  },
}
export type LoadCommands = typeof commands

serveCommands(commands)
