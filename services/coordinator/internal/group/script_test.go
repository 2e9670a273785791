package group_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// TestScripts runs every script under testdata: events go in, states and answers come
// out and are compared with the golden text. `go test -rewrite` writes it anew.
//
// A script keeps, for each member, the numbers of its last answer, so that `beat A`
// reports what a well-behaved client would. Every number can be set by hand.
func TestScripts(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := newWorld(t)
		datadriven.RunTest(t, path, w.run)
	})
}

// world is a group with a store's clock and liveness, and what each member knows.
type world struct {
	t        *testing.T
	cfg      group.Config
	g        *group.Group
	live     map[string]group.Liveness
	now      group.Millis
	servedAt group.Millis
	identity string
	nonces   int
	jumped   bool
	known    map[string]*knowledge
	saved    []snapshot
	requests int
}

// knowledge is what a scripted member learnt from its last answer.
type knowledge struct {
	epoch, version, sequence int64
	lineage                  string
	owned                    []int
}

type snapshot struct {
	g    *group.Group
	live map[string]group.Liveness
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{
		t: t, cfg: group.DefaultConfig(), now: 1_000_000, identity: "store-1",
		live: map[string]group.Liveness{}, known: map[string]*knowledge{},
	}
}

func (w *world) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	switch d.Cmd {
	case "group":
		return w.create(d)
	case "beat":
		return w.beats(t, d)
	case "pass":
		return w.pass(t, d)
	case "tick":
		return w.apply(nil)
	case "save":
		w.saved = append(w.saved, w.snap())
		return "saved"
	case "restore":
		return w.restore(t, d)
	case "identity":
		w.identity = d.CmdArgs[0].Key
		return "store is " + w.identity
	case "lose":
		delete(w.live, d.CmdArgs[0].Key)
		return "liveness of " + d.CmdArgs[0].Key + " lost"
	case "show":
		return w.show()
	default:
		t.Fatalf("unknown command %q", d.Cmd)
		return ""
	}
}

func (w *world) create(d *datadriven.TestData) string {
	shards := 1
	if d.HasArg("shards") {
		d.ScanArgs(w.t, "shards", &shards)
	}
	w.g = group.New(w.cfg, group.Birth{
		StreamPrefix: "orders", ConsumerGroup: "g", ShardCount: shards, Lineage: w.nonce(),
		Identity: w.identity, Now: w.now, Barrier: d.HasArg("barrier"),
	})
	w.live = map[string]group.Liveness{}
	w.servedAt = w.now
	return w.show()
}

func (w *world) nonce() string {
	w.nonces++
	return fmt.Sprintf("L%d", w.nonces)
}

// pass moves the store's clock; the coordinator serves the group meanwhile unless
// "unserved" is given, "jump" makes it a step of the store's clock alone.
func (w *world) pass(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	by, err := time.ParseDuration(d.CmdArgs[0].Key)
	require.NoError(t, err)
	w.now = w.now.Add(by)
	w.jumped = d.HasArg("jump")
	if !d.HasArg("unserved") {
		w.servedAt = w.now
	}
	return fmt.Sprintf("now +%v", time.Duration(w.now-1_000_000)*time.Millisecond)
}

func (w *world) snap() snapshot {
	live := make(map[string]group.Liveness, len(w.live))
	for id, l := range w.live {
		live[id] = l
	}
	return snapshot{g: w.g, live: live}
}

// restore takes the store back to the n-th save, counted from 1.
func (w *world) restore(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	n, err := strconv.Atoi(d.CmdArgs[0].Key)
	require.NoError(t, err)
	saved := w.saved[n-1]
	w.g, w.live = saved.g, saved.live
	w.saved[n-1] = w.snap()
	return w.show()
}

// beats sends the heartbeat of the command line and one for each input line, together.
func (w *world) beats(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	lines := []string{}
	if len(d.CmdArgs) > 0 {
		words := make([]string, len(d.CmdArgs))
		for i, arg := range d.CmdArgs {
			words[i] = arg.String()
		}
		lines = append(lines, strings.Join(words, " "))
	}
	if d.Input != "" {
		lines = append(lines, strings.Split(d.Input, "\n")...)
	}
	requests := make([]*protocol.HeartbeatRequest, len(lines))
	for i, line := range lines {
		requests[i] = w.request(t, line)
	}
	return w.apply(requests)
}

// apply runs one fresh step and stores its outcome as a real store would.
func (w *world) apply(requests []*protocol.HeartbeatRequest) string {
	before := w.g
	out := group.Step(w.cfg, w.g, group.Input{
		Now: w.now, Fresh: true, Live: w.live, ServedAt: w.servedAt, Identity: w.identity,
		ClockJumped: w.jumped, Nonce: w.nonce(), Heartbeats: requests,
	})
	w.jumped, w.servedAt = false, w.now
	if out.Next != nil {
		w.g = out.Next
		require.Equal(w.t, before.MetadataVersion+1, w.g.MetadataVersion, "a commit raises the version by one")
	}
	w.store(out)
	var b strings.Builder
	for _, c := range out.Changes {
		fmt.Fprintln(&b, "  "+changeText(c))
	}
	if len(out.Unmoved) > 0 {
		ids := make([]string, 0, len(out.Unmoved))
		for id := range out.Unmoved {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		fmt.Fprintf(&b, "  relies on liveness of %s\n", strings.Join(ids, " "))
	}
	if out.Next == nil {
		fmt.Fprintln(&b, "  no commit")
	}
	for i, r := range out.Replies {
		w.learn(requests[i], r.Response)
		b.WriteString(w.replyText(r) + "\n")
	}
	return b.String()
}

func (w *world) store(out group.Output) {
	for _, beat := range out.Beats {
		l := w.live[beat.Request.MemberID]
		l.Deadline, l.HeardAt = w.now.Add(w.cfg.Lease), w.now
		l.Incarnation, l.Sequence, l.RequestID = beat.Request.Incarnation, beat.Request.Sequence, beat.Request.RequestID
		l.SyncVersion = beat.SyncVersion
		w.live[beat.Request.MemberID] = l
	}
	for _, n := range out.Newcomers {
		l := w.live[n.Member]
		l.Successor, l.SuccessorAt = n.Incarnation, w.now
		w.live[n.Member] = l
	}
	for _, id := range out.Forget {
		delete(w.live, id)
	}
}

// request reads "A epoch=1 own=0,1 rev=2:DRAINING:1 inc=a2 seq=3 ver=4 lin=L1 id=r9 as=P1
// old lost". "as" keeps the numbers of a process apart from those of others with its
// member id; "old" sends no incarnation, sequence and lineage.
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
	if !old {
		k.sequence++
		req.Incarnation, req.Sequence, req.Lineage = strings.ToLower(process), k.sequence, k.lineage
	}
	if req.MemberEpoch > 0 {
		req.OwnedShards = shardIDs(k.owned)
	}
	w.override(t, req, args)
	if req.MemberEpoch == 0 {
		req.Lineage = args["lin"]
		req.MetadataVersion = number(t, args["ver"])
	}
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
		case "as", "old", "lost":
		default:
			t.Fatalf("unknown argument %q", key)
		}
	}
	if _, lost := args["lost"]; lost {
		req.RequestID += "?" // learn forgets answers to such requests
	}
}

// learn is what a client does with an answer, see the status table of the contract.
func (w *world) learn(req *protocol.HeartbeatRequest, r *protocol.HeartbeatResponse) {
	process, _, _ := strings.Cut(req.RequestID, "/")
	k := w.known[process]
	if k == nil || strings.HasSuffix(req.RequestID, "?") {
		return
	}
	switch r.Status {
	case protocol.StatusOK:
		k.owned = indexes(r.Assignment.AssignedShards)
	case protocol.StatusSyncMetadata, protocol.StatusRevokePending:
		assigned := indexes(r.Assignment.AssignedShards)
		k.owned = slices.DeleteFunc(slices.Clone(k.owned), func(shard int) bool { return !slices.Contains(assigned, shard) })
	case protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch:
		k.epoch, k.version, k.owned, k.lineage = 0, 0, nil, ""
		return
	default:
		return
	}
	k.epoch, k.version, k.lineage = r.MemberEpoch, r.MetadataVersion, r.Lineage
}

func (w *world) replyText(r group.Reply) string {
	a := r.Response
	text := fmt.Sprintf("%s %s e%d v%d assigned=%v pending=%v", a.MemberID, a.Status, a.MemberEpoch, a.MetadataVersion,
		indexes(a.Assignment.AssignedShards), indexes(a.Assignment.PendingShards))
	switch {
	case r.Beat >= 0:
		text += " renewed"
	case a.LeaseMs > 0:
		text += fmt.Sprintf(" lease=%dms", a.LeaseMs)
	}
	if a.Reason != "" {
		text += " " + string(a.Reason)
	}
	return text
}

func (w *world) show() string {
	g := w.g
	var b strings.Builder
	fmt.Fprintf(&b, "group epoch %d assignment %d version %d counter %d lineage %s", g.GroupEpoch, g.AssignmentEpoch,
		g.MetadataVersion, g.EpochCounter, g.Lineage)
	if g.BarrierUntil != 0 {
		fmt.Fprintf(&b, " barrier %dms", g.BarrierUntil-w.now)
	}
	if g.Round != nil {
		fmt.Fprintf(&b, " round v%d", g.Round.OpenedVersion)
	}
	b.WriteString("\n")
	for shard, h := range g.Holds {
		fmt.Fprintf(&b, "  %d -> %s", shard, orNone(g.Target[shard]))
		if h.Member != "" {
			fmt.Fprintf(&b, " held by %s", h.Member)
		}
		if h.Told {
			b.WriteString(" told to drop")
		}
		if h.Lingers != 0 {
			fmt.Fprintf(&b, " lingers %dms", h.Lingers-w.now)
		}
		b.WriteString("\n")
	}
	for _, m := range g.Members {
		fmt.Fprintf(&b, "  %s %s e%d joined e%d lease %dms seq %d", m.ID, m.State, m.Epoch, m.JoinEpoch,
			w.live[m.ID].Deadline-w.now, w.live[m.ID].Sequence)
		if m.DropBy != 0 {
			fmt.Fprintf(&b, " drop by %dms", m.DropBy-w.now)
		}
		if w.live[m.ID].SuccessorAt != 0 {
			fmt.Fprintf(&b, " successor %s", orNone(w.live[m.ID].Successor))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func changeText(c group.Change) string {
	text := string(c.Cause)
	if c.Shard >= 0 {
		text += " " + strconv.Itoa(c.Shard)
	}
	if c.Member != "" {
		text += " " + c.Member
	}
	return text
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
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

func indexes(ids []protocol.ShardID) []int {
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = id.ShardIndex
	}
	return list
}
