// Package audit keeps the record of every mutation that is asked of the gateway, allowed or
// not (gateway, Audit; C8): an intent before a mutation is sent, an outcome after it, and an
// outcome alone for what was refused before.
//
//	record     what a record holds; never a password, a token or a body
//	Sink       where records go: Log, Redis or Postgres; each keeps a hash chain
//	outbox     what happens while the sink is away: refuse, or buffer within a bound
//	Auditor    the stages Surround and Intend, and the handler of GET /audit
//
// Non-obvious:
//   - A mutation's answer is held back until its outcome is written: commit, then speak. If
//     the sink fails just then, the outcome waits in the outbox and the answer goes out.
//   - An outcome of a mutation that was sent is never dropped for want of room. Those of
//     requests that were refused are, loudly, when the outbox is half full.
//   - What is lost at the end is written to the log whole.
package audit
