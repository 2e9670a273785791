package group_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// request reads "A epoch=1 own=0+1 rev=2:DRAINING:1 inc=a2 seq=3 ver=4 lin=L1 id=r9 as=P1
// old lost late". "as" keeps the numbers of a process apart from those of others with its
// member id; "old" sends no incarnation, sequence and lineage; of "lost" the answer is
// lost; "late" is a message of the past: it takes no new sequence and nobody waits for it.
func (w *world) request(t *testing.T, line string) *protocol.HeartbeatRequest {
	t.Helper()
	words := strings.Fields(line)
	args := map[string]string{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(strings.NewReplacer("(", "", ")", "").Replace(word), "=")
		args[key] = value
	}
	process := words[0]
	if as, ok := args["as"]; ok {
		process = as
	}
	k := w.known[process]
	if k == nil {
		k = &knowledge{}
		w.known[process] = k
	}
	w.requests++
	req := &protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: process + "/" + strconv.Itoa(w.requests), MemberID: words[0],
		MemberEpoch: k.epoch, MetadataVersion: k.version,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1},
	}
	_, old := args["old"]
	_, late := args["late"]
	_, lost := args["lost"]
	w.unheard[req] = late || lost
	if !old {
		if !late {
			k.sequence++
		}
		req.Incarnation, req.Sequence, req.Lineage = strings.ToLower(process), k.sequence, k.lineage
	}
	if req.MemberEpoch > 0 {
		req.OwnedShards = shardIDs(k.owned)
	}
	w.override(t, req, args)
	return req
}

func (w *world) override(t *testing.T, req *protocol.HeartbeatRequest, args map[string]string) {
	t.Helper()
	for key, value := range args {
		switch key {
		case "epoch":
			req.MemberEpoch = number(t, value)
		case "ver":
			req.MetadataVersion = number(t, value)
		case "seq":
			req.Sequence = number(t, value)
		case "inc":
			req.Incarnation = value
		case "lin":
			req.Lineage = value
		case "id":
			req.RequestID = value
		case "proto":
			req.ProtocolVersion = int(number(t, value))
		case "own":
			req.OwnedShards = shardIDs(numbers(t, value))
		case "rev":
			req.RevokingShards = revoking(t, value)
		case "as", "old", "lost", "late":
		default:
			t.Fatalf("unknown argument %q", key)
		}
	}
}

// learn is what a client does with an answer, see the status table of the contract.
func (w *world) learn(req *protocol.HeartbeatRequest, r *protocol.HeartbeatResponse) {
	process, _, _ := strings.Cut(req.RequestID, "/")
	k := w.known[process]
	if k == nil || w.unheard[req] {
		return
	}
	switch r.Status {
	case protocol.StatusOK:
		k.owned = indexes(r.Assignment.AssignedShards)
	case protocol.StatusSyncMetadata, protocol.StatusRevokePending:
		assigned := indexes(r.Assignment.AssignedShards)
		k.owned = slices.DeleteFunc(slices.Clone(k.owned), func(shard int) bool { return !slices.Contains(assigned, shard) })
	case protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch:
		k.epoch, k.owned = 0, nil // version and lineage stay: lost writes are recognised by them (M1)
		return
	case protocol.StatusRetry, protocol.StatusInvalidRequest, protocol.StatusUnsupportedProtocol:
		return
	}
	k.epoch, k.version, k.lineage = r.MemberEpoch, r.MetadataVersion, r.Lineage
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}

func numbers(t *testing.T, text string) []int {
	t.Helper()
	var list []int
	for word := range strings.SplitSeq(text, "+") {
		if word != "" && word != "none" {
			list = append(list, int(number(t, word)))
		}
	}
	return list
}

func revoking(t *testing.T, text string) []protocol.RevokingShard {
	t.Helper()
	var list []protocol.RevokingShard
	for word := range strings.SplitSeq(text, "+") {
		parts := strings.Split(word, ":")
		r := protocol.RevokingShard{Shard: protocol.ShardID{ShardIndex: int(number(t, parts[0]))}, State: protocol.Revoked}
		if len(parts) > 1 {
			r.State = protocol.RevokingState(parts[1])
		}
		if len(parts) > 2 {
			r.InFlight = int(number(t, parts[2]))
		}
		list = append(list, r)
	}
	return list
}

func shardIDs(indexes []int) []protocol.ShardID {
	ids := make([]protocol.ShardID, len(indexes))
	for i, index := range indexes {
		ids[i] = protocol.ShardID{ShardIndex: index}
	}
	return ids
}
