// Package messages reads pages of records, of one shard or merged over all shards of a
// stream by id, and pages of what a group was given and has not acknowledged (monitoring, APIs).
//
// A cursor says how far the shards were read, so that over all pages every record that was
// there at the beginning is shown once, whatever is written meanwhile: ids grow within a
// shard, not across shards. Merged, it names the last record in the order of ids. BACKWARD
// that is all, and nothing appears that is newer than the pages before. FORWARD the pages go
// on as long as there is more, and a shard that was read to its end may be given an id below
// the last one: by a server whose clock is behind, or by a producer that makes its ids. So the
// cursor also says how far such shards were read, and what is written to them is shown once.
//
// Cursors are short however many shards there are, to pass through a gateway as part of a
// query. Those of a few hundred shards name all that are behind. Beyond, shards that were read
// to their end count as read up to the clock of their server, below which Redis gives no id;
// there a record is missed if its id is another's work, or if a clock goes back.
//
// Non-obvious:
//   - A page may be shorter than its limit and have a next one: it ends early when it gets
//     too large to send, or over very many shards where its cursor would.
//   - A tail page is counted in records from the end, so the first page of a walk by tails
//     may be the short one, not the last.
//   - A shard that is missing or no stream has no records. One that is out of reach refuses
//     the page, because leaving it out would pass for "nothing there".
//
// File map: reader.go answers; cursor.go reads cursors and next.go makes them, of a position
// (position.go), what is behind it (behind.go) and the clocks of servers (floor.go); source.go
// reads one shard and walk.go merges them; tail.go counts pages from the end; search.go finds one record;
// pending.go reads what is pending;
// record.go is what is shown of it.
package messages
