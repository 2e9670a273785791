package provision

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// judged is the part of a finding that says what keeps a shard.
type judged struct {
	reason                protocol.DrainReason
	group, consumer, tail string
	pending, lag          string // "?" when unknown
}

func judgedOf(f Finding) judged {
	shown := func(n *int64) string {
		if n == nil {
			return "?"
		}
		return redisx.KnownCount(*n).String()
	}
	return judged{
		reason: f.Reason, group: f.BlockingGroup, consumer: f.BlockingConsumer, tail: f.Tail,
		pending: shown(f.Pending), lag: shown(f.Lag),
	}
}

func TestL4EveryShardIsEmptyOrSaysWhatKeepsIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		build func(b *bench) // on orders:0 with the groups g and h and nothing in it
		want  judged
	}{
		"nothing was ever added": {
			build: func(*bench) {}, want: judged{pending: "0", lag: "0"},
		},
		"everything handled by both": {
			build: func(b *bench) {
				b.handled("1-0")
				b.read("h", 1)
				b.do("XACK", "orders:0", "h", "1-0")
			}, want: judged{pending: "0", lag: "0"},
		},
		"the key is gone": {
			build: func(b *bench) { b.do("DEL", "orders:0") },
			want:  judged{reason: protocol.DrainStreamMissing, pending: "?", lag: "?"},
		},
		"the key holds something else": {
			build: func(b *bench) { b.do("SET", "orders:0", "v") },
			want:  judged{reason: protocol.DrainStreamMissing, pending: "?", lag: "?"},
		},
		"the key holds a list": {
			build: func(b *bench) { b.do("DEL", "orders:0"); b.do("RPUSH", "orders:0", "v") },
			want:  judged{reason: protocol.DrainStreamMissing, pending: "?", lag: "?"},
		},
		"a group of the stream is gone, another has entries to read": {
			build: func(b *bench) { b.do("XGROUP", "DESTROY", "orders:0", "h"); b.do("XADD", "orders:0", "1-0", "f", "v") },
			want:  judged{reason: protocol.DrainGroupMissing, group: "h", pending: "0", lag: "1"},
		},
		"unread by one group, pending for another": {
			build: func(b *bench) { b.do("XADD", "orders:0", "1-0", "f", "v"); b.read("g", 1) },
			want:  judged{reason: protocol.DrainUnread, group: "h", tail: "1-0", pending: "1", lag: "1"},
		},
		"pending, most of it with one consumer": {
			build: func(b *bench) {
				for _, id := range []string{"1-0", "2-0", "3-0"} {
					b.do("XADD", "orders:0", id, "f", "v")
				}
				b.do("XREADGROUP", "GROUP", "h", "one", "COUNT", 1, "STREAMS", "orders:0", ">")
				b.do("XREADGROUP", "GROUP", "h", "two", "COUNT", 2, "STREAMS", "orders:0", ">")
				b.do("XREADGROUP", "GROUP", "g", "c", "NOACK", "STREAMS", "orders:0", ">")
			}, want: judged{reason: protocol.DrainPending, group: "h", consumer: "two", pending: "3", lag: "0"},
		},
		"pending in front of an unknown lag": {
			build: func(b *bench) {
				b.do("XADD", "orders:0", "1-0", "f", "v")
				b.do("XADD", "orders:0", "2-0", "f", "v")
				b.read("g", 1)
				b.do("XDEL", "orders:0", "2-0")
				b.do("XREADGROUP", "GROUP", "h", "c", "NOACK", "STREAMS", "orders:0", ">")
			}, want: judged{reason: protocol.DrainPending, group: "g", consumer: "c", pending: "1", lag: "?"},
		},
		"a foreign group that reads nothing (L4: every Redis group)": {
			build: func(b *bench) {
				b.handled("1-0")
				b.do("XREADGROUP", "GROUP", "h", "c", "NOACK", "STREAMS", "orders:0", ">")
				b.do("XGROUP", "CREATE", "orders:0", "a-foreign", "0")
			}, want: judged{reason: protocol.DrainUnread, group: "a-foreign", tail: "1-0", pending: "0", lag: "1"},
		},
		"a foreign group with something pending": {
			build: func(b *bench) {
				b.do("XGROUP", "CREATE", "orders:0", "z-foreign", "0")
				b.do("XADD", "orders:0", "1-0", "f", "v")
				b.do("XREADGROUP", "GROUP", "g", "c", "NOACK", "STREAMS", "orders:0", ">")
				b.do("XREADGROUP", "GROUP", "h", "c", "NOACK", "STREAMS", "orders:0", ">")
				b.do("XREADGROUP", "GROUP", "z-foreign", "theirs", "STREAMS", "orders:0", ">")
			}, want: judged{reason: protocol.DrainPending, group: "z-foreign", consumer: "theirs", pending: "1", lag: "0"},
		},
		"a cursor at the highest id": {
			build: func(b *bench) {
				b.do("XADD", "orders:0", "1-0", "f", "v")
				for _, g := range []string{"g", "h"} {
					b.do("XGROUP", "SETID", "orders:0", g, "18446744073709551615-18446744073709551615")
				}
			}, want: judged{reason: protocol.DrainLagUnknown, group: "g", pending: "0", lag: "?"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := onRedis(t)
			b.made(1, groups("g", "h")...)
			test.build(b)
			f := b.prove(0, "g", "h")
			require.Equal(t, test.want, judgedOf(f))
			require.Equal(t, f.Reason == "", f.Proof == protocol.ProofLag)
			require.False(t, f.Sealed || f.Stale)
		})
	}
}

func TestEntriesThatNoGroupEverWantedAreNotProvenAway(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.do("XADD", "orders:0", "1-0", "f", "v")
	require.Equal(t, judged{reason: protocol.DrainUnread, tail: "1-0", pending: "0", lag: "0"}, judgedOf(b.prove(0)))
	b.do("XDEL", "orders:0", "1-0")
	require.Empty(t, b.prove(0).Reason)
}

func TestFindingCarriesTheEvidence(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(1, groups("g", "h")...)
	b.handled("1-0")
	b.handled("2-0")
	b.read("h", 1)
	f := b.prove(0, "a", "g", "h", "z")
	require.Equal(t, "2-0", f.LastID)
	require.Equal(t, int64(2), *f.EntriesAdded)
	require.Equal(t, []string{"a", "z"}, f.Missing)
	n := func(n int64) *int64 { return &n }
	require.Equal(t, []GroupEvidence{
		{Name: "g", LastDelivered: "2-0", Lag: n(0), EntriesRead: n(2)},
		{Name: "h", LastDelivered: "1-0", Pending: 1, Lag: n(1), EntriesRead: n(1)},
	}, f.Groups)
}

func TestProofsComeInTheOrderOfTheIndexesInOneTripFor128(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(300)
	b.do("DEL", "orders:7")
	b.do("SET", "orders:9", "v")
	b.do("XADD", "orders:299", "1-0", "f", "v")
	count := &trips{}
	b.rdb.AddHook(count)
	indexes := append([]int{299, 9}, upTo(254)...)
	indexes = append(indexes[:2], append(indexes[2:11], indexes[12:]...)...) // without the second 9
	found, err := b.Prove(t.Context(), "orders", indexes, []string{"g"})
	require.NoError(t, err)
	require.Equal(t, int64(2), count.sent.Load())
	require.Len(t, found, len(indexes))
	for i, f := range found {
		require.Equal(t, indexes[i], f.Index)
		switch f.Index {
		case 299:
			require.Equal(t, protocol.DrainUnread, f.Reason)
		case 7, 9:
			require.Equal(t, protocol.DrainStreamMissing, f.Reason)
		default:
			require.Empty(t, f.Reason)
		}
	}
}

func TestL4ReplicaProvesNothing(t *testing.T) {
	t.Parallel()
	primary, replica := redisproc.Start(t), redisproc.Start(t)
	b := newBench(t, primary.Client(t))
	b.made(1)
	replica.Follow(t, primary)
	old := newBench(t, replica.Client(t)) // a client that did not hear of the failover
	found, err := old.Prove(t.Context(), "orders", []int{0}, []string{"g"})
	var step *StepError
	require.ErrorAs(t, err, &step)
	require.Equal(t, redisx.StateReadOnly, step.State())
	require.Empty(t, found)
	for name, call := range map[string]func() error{
		"mark": func() error { _, err := old.Mark(t.Context(), "orders", []int{0}, sealing()); return err },
		"make": func() error {
			_, err := old.Make(t.Context(), "orders", []int{0}, backing(), groups(), nil)
			return err
		},
		"unmake": func() error {
			_, err := old.Unmake(t.Context(), "orders", []int{0}, preparing(), 0)
			return err
		},
		"seal": func() error {
			_, err := old.Seal(t.Context(), "orders", []int{0}, preparing(), []string{"g"}, RetainNothing, nil)
			return err
		},
		"unseal":  func() error { return old.Unseal(t.Context(), "orders", []int{0}, preparing(), groups()) },
		"destroy": func() error { return old.Destroy(t.Context(), "orders", 1, "g") },
	} {
		require.ErrorAs(t, call(), &step, name)
		require.Equal(t, redisx.StateReadOnly, step.State(), name)
	}
	require.Empty(t, b.prove(0, "g").Reason, "the primary does")
}

func TestProofThatBreaksOffReturnsWhatAnswered(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	b := newBench(t, server.Client(t))
	b.made(200)
	b.rdb.AddHook(&trips{before: func(n int64) {
		if n == 2 {
			server.Kill()
		}
	}})
	found, err := b.Prove(t.Context(), "orders", upTo(200), []string{"g"})
	var step *StepError
	require.ErrorAs(t, err, &step)
	require.Equal(t, "orders:128", step.Key)
	require.Len(t, found, 128)
}
