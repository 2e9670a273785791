// Package messages reads pages of records, of one shard or merged over all shards of a
// stream by id (monitoring, APIs).
//
// A cursor says how far the shards were read, so that over all pages every record that was
// there at the beginning is shown once, whatever is written meanwhile: ids grow within a
// shard, not across shards. Going FORWARD it names every shard, and the pages go on as long
// as there is more; going BACKWARD one id serves all shards, and nothing appears that is
// newer than the pages before.
//
// Non-obvious:
//   - A page may be shorter than its limit and have a next one: it ends early when it gets
//     too large to send.
//   - A tail page is counted in records from the end, so the first page of a walk by tails
//     may be the short one, not the last.
//   - A shard that is missing or no stream has no records. One that is out of reach refuses
//     the page, because leaving it out would pass for "nothing there".
//
// File map: reader.go answers; cursor.go reads and writes cursors; source.go reads one shard
// and walk.go merges them; tail.go counts pages from the end; search.go finds one record;
// record.go is what is shown of it.
package messages
