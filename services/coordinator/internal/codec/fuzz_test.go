package codec_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// seeds adds a golden record and every damaged form of it.
func seeds(f *testing.F, file string, damages []damage) {
	f.Helper()
	f.Add(golden(f, file))
	for _, d := range damages {
		doc := document(f, golden(f, file))
		d.do(doc)
		data, err := json.Marshal(doc)
		require.NoError(f, err)
		f.Add(data)
	}
}

// FuzzDecodeGroup: whatever a store returns is refused by name, or is a group that the
// core can go on with, and that stays one.
func FuzzDecodeGroup(f *testing.F) {
	seeds(f, "group-handoff.json", groupDamage())
	seeds(f, "group-drain.json", layoutDamage())
	f.Add(golden(f, "group-round.json"))
	f.Add(golden(f, "group-new.json"))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := codec.DecodeGroup(1, data)
		if err != nil {
			require.ErrorIs(t, err, codec.ErrCorrupt)
			require.Nil(t, g)
			return
		}
		kept := string(encoded(t, g))
		again, err := codec.DecodeGroup(1, []byte(kept))
		require.NoError(t, err)
		require.Equal(t, kept, string(encoded(t, again)))
		for _, in := range inputs(g) {
			group.Due(group.DefaultConfig(), g, in.Live)
			out := group.Step(group.DefaultConfig(), g, in)
			require.Len(t, out.Replies, len(in.Heartbeats))
			require.Equal(t, kept, string(encoded(t, g)), "a step changes what it was given")
			if in.Fresh && out.Next != nil && farFromEnd(g) { // without a fresh state nothing is stored (E6)
				_, err = codec.DecodeGroup(1, encoded(t, out.Next))
				require.NoError(t, err, "%s\n%v", encoded(t, out.Next), out.Changes)
			}
		}
	})
}

// farFromEnd tells whether the counters have room for another step.
func farFromEnd(g *group.Group) bool {
	const room = 1<<62 - 1<<30
	return g.EpochCounter < room && g.MetadataVersion < room && g.GroupEpoch < room
}

// inputs are ticks and heartbeats at times when nothing, something and everything is due.
func inputs(g *group.Group) []group.Input {
	var all []group.Input
	for _, now := range []group.Millis{1_767_225_600_100, 1_767_225_609_500, 1_900_000_000_000} {
		live := map[string]group.Liveness{}
		for _, m := range g.Members {
			live[m.ID] = group.Liveness{Deadline: 1_767_225_610_000, HeardAt: 1_767_225_600_000, Incarnation: m.Incarnation, Sequence: 1}
		}
		tick := group.Input{Now: now, Fresh: true, Live: live, ServedAt: now, Identity: g.Identity, Nonce: "01KDVDNR0000000000000LIN99"}
		beat, blind, moved := tick, tick, tick
		beat.Heartbeats = requests(g)
		blind.Live = nil
		moved.Identity = "another"
		moved.Heartbeats = requests(g)
		all = append(all, tick, beat, blind, moved, group.Input{Now: now, Live: live, Heartbeats: requests(g)})
	}
	return all
}

func requests(g *group.Group) []*protocol.HeartbeatRequest {
	list := []*protocol.HeartbeatRequest{{ProtocolVersion: 1, RequestID: "new", MemberID: "new", Incarnation: "n", Sequence: 1}}
	for i, m := range g.Members {
		if i > 20 {
			break
		}
		req := &protocol.HeartbeatRequest{
			ProtocolVersion: 1, RequestID: fmt.Sprint(i), MemberID: m.ID, Incarnation: m.Incarnation, Sequence: 2,
			MemberEpoch: []int64{m.Epoch, m.Epoch, 0, -1, -2, m.JoinEpoch}[i%6], MetadataVersion: g.MetadataVersion,
		}
		for shard, h := range g.Holds {
			if h.Member == m.ID && shard%2 == 0 {
				req.OwnedShards = append(req.OwnedShards, protocol.ShardID{ShardIndex: shard})
			}
		}
		list = append(list, req)
	}
	return list
}

// FuzzDecodeStream: whatever a store returns is refused by name, or is a record that can be
// written again and that a driver can go on with.
func FuzzDecodeStream(f *testing.F) {
	seeds(f, "stream.json", streamDamage())
	seeds(f, "stream-drain.json", drainDamage())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := codec.DecodeStream(1, data)
		if err != nil {
			require.ErrorIs(t, err, codec.ErrCorrupt)
			require.Zero(t, s)
			return
		}
		kept, err := codec.EncodeStream(1, s)
		require.NoError(t, err)
		again, err := codec.DecodeStream(1, kept)
		require.NoError(t, err)
		written, err := codec.EncodeStream(1, again)
		require.NoError(t, err)
		require.Equal(t, string(kept), string(written))
		for _, next := range nextOf(s) {
			data, err := codec.EncodeStream(1, next)
			require.NoError(t, err)
			_, err = codec.DecodeStream(1, data)
			require.NoError(t, err, "%s\n%s", kept, data)
		}
		for _, g := range s.Groups {
			found, ok := s.Find(g.Name)
			require.True(t, ok)
			require.Equal(t, g, found)
		}
	})
}

// nextOf returns what may become of a stream's record next, if its numbers have room and
// its shards are few.
func nextOf(s stream.Stream) []stream.Stream {
	const room, now = 1<<62 - 1<<30, 1_767_225_800_000
	if s.MetadataVersion > room || s.LayoutVersion > room || s.ReadCount() > 1000 {
		return nil
	}
	all := []stream.Stream{s.WithLost(s.Readable(), now), s.WithFound(s.Lost), s.Overtaken(s.LayoutVersion + 1), s.Marked(9, now)}
	r := s.Resharding
	if r == nil {
		next, _ := s.Scaled("R9", s.ShardCount+1, stream.Order{}, "", now)
		return append(all, next)
	}
	if r.From > 1000 || r.To > 1000 {
		return all
	}
	back, _ := s.RollingBack(r.ID, stream.Order{}, now)
	for _, reason := range []string{"", "UNREAD"} {
		next := onward(s, now, func() string { return reason })
		all = append(all, next)
		if next.Resharding != nil {
			all = append(all, onward(next, now, func() string { return reason }))
		}
	}
	return append(all, back, onward(back, now, func() string { return "" }), s.Stopped("x", now), s.Raised(9, now))
}
