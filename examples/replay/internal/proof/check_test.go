package proof_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/proof"
)

// published is a publisher that got records 1a, 2b and 3a into the stream.
const published = `
	1 p intent 1a
	1 p intent 2b
	1 p intent 3a
	2 p ack 1
	2 p ack 2
	2 p ack 3
	2 p close
`

func TestAReplayThatWentWellIsProven(t *testing.T) {
	t.Parallel()
	r := check(t, published+`
		3 c1 start 1a 0 1-0 5
		4 c1 end 1a 0 1-0 5
		4 c2 start 2b 1 1-0 6
		5 c1 start 3a 0 2-0 5
		6 c1 end 3a 0 2-0 5
		7 c2 end 2b 1 1-0 6
		8 c1 close
		8 c2 close
	`, 3)
	require.True(t, r.Holds(), r.Faults)
	require.Empty(t, r.Faults)
	require.Equal(t, proof.Report{
		Records: 3, Published: 3, Handled: 3, Handlings: 3, Keys: 2, Consumers: 2,
		Seconds: 6e-9, RecordsPerSecond: 3 / 6e-9, Faults: []string{},
	}, *r)
}

func TestWhatBreaksTheProofIsCountedAndNamed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		count  func(*proof.Report) int64
		fault  string
	}{
		"a record that nobody handled (C1)": {
			script: published + `
				3 c start 1a 0 1-0 5
				4 c end 1a 0 1-0 5
				5 c start 3a 0 2-0 5
				6 c end 3a 0 2-0 5`,
			count: func(r *proof.Report) int64 { return r.Lost },
			fault: "record 2 was published and never handled",
		},
		"a record whose only handling did not end (C1)": {
			script: `
				1 p intent 1a
				2 p ack 1
				3 c start 1a 0 1-0 5`,
			count: func(r *proof.Report) int64 { return r.Lost },
			fault: "record 1 was published and never handled",
		},
		"a refused record that is there after all (C2)": {
			script: `
				1 p intent 1a
				2 p refused 1
				3 c start 1a 0 1-0 5
				4 c end 1a 0 1-0 5`,
			count: func(r *proof.Report) int64 { return r.Strangers },
			fault: "record 1 on shard 0 (1-0) was handled and never published",
		},
		"a record that is nobody's (C2)": {
			script: published + whole + `
				9 c start 8z 0 9-0 5
				9 c end 8z 0 9-0 5`,
			count: func(r *proof.Report) int64 { return r.Strangers },
			fault: "record 8 on shard 0 (9-0) was handled and never published",
		},
		"a record with another key": {
			script: `
				1 p intent 1a
				2 p ack 1
				3 c start 1b 0 1-0 5
				4 c end 1b 0 1-0 5`,
			count: func(r *proof.Report) int64 { return r.Altered },
			fault: "record 1 on shard 0 (1-0) is not what was published",
		},
		"records of one key in the wrong order (C6)": {
			script: published + `
				3 c start 3a 0 2-0 5
				4 c end 3a 0 2-0 5
				5 c start 1a 0 1-0 5
				6 c end 1a 0 1-0 5
				6 c start 2b 0 3-0 5
				7 c end 2b 0 3-0 5`,
			count: func(r *proof.Report) int64 { return r.OutOfOrderKeys },
			fault: "key a: record 1 (shard 0, 1-0, by c) was handled after record 3 (2-0, by c)",
		},
		"the order of beginnings counts, also when a process was killed (C6)": {
			script: published + `
				3 c1 start 3a 0 2-0 5
				5 c2 start 1a 0 1-0 6
				6 c2 end 1a 0 1-0 6
				6 c2 start 2b 0 3-0 6
				7 c2 end 2b 0 3-0 6
				7 c2 start 3a 0 2-0 6
				8 c2 end 3a 0 2-0 6`,
			count: func(r *proof.Report) int64 { return r.OutOfOrderKeys },
			fault: "key a: record 1 (shard 0, 1-0, by c2) was handled after record 3 (2-0, by c1)",
		},
		"two readers of one shard (C4)": {
			script: published + `
				3 c1 start 1a 0 1-0 5
				5 c2 start 2b 0 2-0 6
				6 c1 end 1a 0 1-0 5
				6 c2 end 2b 0 2-0 6
				7 c2 start 3a 0 3-0 6
				8 c2 end 3a 0 3-0 6`,
			count: func(r *proof.Report) int64 { return r.DoubleReaders },
			fault: "shard 0: c2 began 1 ns before c1 ended",
		},
		"one that comes back into the tenure of another (C4)": {
			script: published + `
				3 c1 start 1a 0 1-0 5
				4 c1 end 1a 0 1-0 5
				5 c2 start 2b 0 2-0 6
				6 c2 end 2b 0 2-0 6
				7 c1 start 3a 0 3-0 5
				8 c1 end 3a 0 3-0 5`,
			count: func(r *proof.Report) int64 { return r.DoubleReaders },
			fault: "shard 0: c2 began 3 ns before c1 ended",
		},
		"a later owner with an older token": {
			script: published + `
				3 c1 start 1a 0 1-0 5
				4 c1 end 1a 0 1-0 5
				5 c2 start 2b 0 2-0 4
				6 c2 end 2b 0 2-0 4
				7 c2 start 3a 0 3-0 4
				8 c2 end 3a 0 3-0 4`,
			count: func(r *proof.Report) int64 { return r.StaleTokens },
			fault: "shard 0: c2 came after c1, with token 4 after 5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := check(t, tc.script, 0)
			require.False(t, r.Holds())
			require.EqualValues(t, 1, tc.count(r))
			require.Contains(t, r.Faults, tc.fault)
		})
	}
}

// whole is a consumer that handled what published has published.
const whole = `
	3 c start 1a 0 1-0 5
	4 c end 1a 0 1-0 5
	5 c start 2b 0 2-0 5
	6 c end 2b 0 2-0 5
	7 c start 3a 0 3-0 5
	8 c end 3a 0 3-0 5
`

func TestRecordsThatWereNotPublishedBreakTheProof(t *testing.T) {
	t.Parallel()
	r := check(t, published+whole, 4)
	require.False(t, r.Holds())
	require.Equal(t, []string{"1 of 4 records were not published"}, r.Faults)
	require.Zero(t, r.Lost)
}

func TestARecordWhosePublicationIsUnknownMayBeThereOrNot(t *testing.T) {
	t.Parallel()
	for name, handled := range map[string]string{
		"not there": "",
		"there":     "3 c start 1a 0 1-0 5\n4 c end 1a 0 1-0 5",
		"twice":     "3 c start 1a 0 1-0 5\n4 c end 1a 0 1-0 5\n5 c start 1a 0 2-0 5\n6 c end 1a 0 2-0 5",
	} {
		for _, outcome := range []string{"2 p unknown 1", ""} { // without one the publisher was killed
			r := check(t, "1 p intent 1a\n"+outcome+"\n"+handled, 0)
			require.Zero(t, r.Lost+r.Strangers, name)
			require.False(t, r.Holds(), "the record is not published: %s", name)
		}
	}
}

func TestDuplicatesAreCountedByTheirCauseAndBreakNothing(t *testing.T) {
	t.Parallel()
	r := check(t, `
		1 p intent 1a
		2 p unknown 1
		3 p intent 1a
		4 p ack 1
		4 p intent 2a
		5 p ack 2
		5 p close
		6 c1 start 1a 0 1-0 5
		7 c1 end 1a 0 1-0 5
		8 c1 start 1a 0 2-0 5
		9 c1 end 1a 0 2-0 5
		10 c1 start 2a 0 3-0 5
		11 c2 start 2a 0 3-0 7
		12 c2 end 2a 0 3-0 7
		13 c3 start 2a 0 3-0 8
		14 c3 end 2a 0 3-0 8
		15 c2 close
		15 c3 close
	`, 2)
	require.True(t, r.Holds(), r.Faults)
	require.Equal(t, proof.Duplicates{Total: 3, Republished: 1, Killed: 2}, r.Duplicates)
	require.EqualValues(t, 1, r.Uncertain)
	require.EqualValues(t, 1, r.Killed)
	require.EqualValues(t, 3, r.Consumers)
	require.EqualValues(t, 2, r.Moves)
	require.EqualValues(t, 2, r.Handled)
	require.EqualValues(t, 5, r.Handlings)
}

func TestADuplicateOfALivingProcessHasAnotherCause(t *testing.T) {
	t.Parallel()
	r := check(t, `
		1 p intent 1a
		2 p ack 1
		3 c1 start 1a 0 1-0 5
		4 c1 start 1a 0 1-0 5
		5 c1 end 1a 0 1-0 5
		6 c1 close
	`, 1)
	require.True(t, r.Holds(), r.Faults)
	require.Equal(t, proof.Duplicates{Total: 1, Other: 1}, r.Duplicates)
}

func TestTheRecordInHandOfAKilledProcessIsNoSecondReader(t *testing.T) {
	t.Parallel()
	r := check(t, published+`
		3 c1 start 1a 0 1-0 5
		4 c2 start 1a 0 1-0 6
		5 c2 end 1a 0 1-0 6
		5 c2 start 2b 0 2-0 6
		6 c2 end 2b 0 2-0 6
		7 c2 start 3a 0 3-0 6
		8 c2 end 3a 0 3-0 6
		9 c2 close
	`, 3)
	require.True(t, r.Holds(), r.Faults)
	require.EqualValues(t, 1, r.Moves)
}

func TestOnlyTheFirstFaultsOfAKindAreNamed(t *testing.T) {
	t.Parallel()
	file := ledger.File{Opening: ledger.Entry{Kind: ledger.Open, Role: ledger.Publisher}}
	for seq := range int64(100) {
		file.Entries = append(file.Entries,
			ledger.Entry{Kind: ledger.Intent, Seq: seq + 1}, ledger.Entry{Kind: ledger.Acked, Seq: seq + 1})
	}
	r := proof.Check([]ledger.File{file}, proof.Replay{Records: 100})
	require.EqualValues(t, 100, r.Lost)
	require.Len(t, r.Faults, 5)
}

func TestALargeReplayIsCheckedInSeconds(t *testing.T) {
	t.Parallel()
	const records = 200_000
	producer := ledger.File{Opening: ledger.Entry{Kind: ledger.Open, Role: ledger.Publisher}}
	consumer := ledger.File{Opening: ledger.Entry{Kind: ledger.Open, Role: ledger.Consumer}, Closing: &ledger.Entry{}}
	for seq := int64(1); seq <= records; seq++ {
		key := ledger.Hash(string(rune('a' + seq%26)))
		producer.Entries = append(producer.Entries,
			ledger.Entry{Kind: ledger.Intent, Seq: seq, Key: key, Mono: seq}, ledger.Entry{Kind: ledger.Acked, Seq: seq, Mono: seq})
		consumer.Entries = append(consumer.Entries,
			ledger.Entry{Kind: ledger.Start, Seq: seq, Key: key, Mono: seq + 1}, ledger.Entry{Kind: ledger.End, Seq: seq, Mono: seq + 2})
	}
	began := time.Now()
	r := proof.Check([]ledger.File{producer, consumer}, proof.Replay{Records: records})
	require.True(t, r.Holds(), r.Faults)
	require.Less(t, time.Since(began), 2*time.Minute, "about 1 s on an idle machine, hours if it were quadratic")
}
