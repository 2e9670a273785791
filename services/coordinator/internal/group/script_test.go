package group_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// start is the store's clock when a script begins.
const start group.Millis = 1_000_000

// TestScripts runs every script under testdata: events go in, states and answers come
// out and are compared with the golden text. `go test -rewrite` writes it anew.
//
// A script keeps, for each member, the numbers of its last answer, so that `beat A`
// reports what a well-behaved client would. Every number can be set by hand.
func TestScripts(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("testdata")
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.IsDir() { // what a failed property test leaves there
			continue
		}
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			datadriven.RunTest(t, filepath.Join("testdata", entry.Name()), w.run)
		})
	}
}

// world is a group with a store's clock and liveness, and what each member knows.
type world struct {
	t        *testing.T
	cfg      group.Config
	g        *group.Group // the store's token is its address
	live     map[string]group.Liveness
	now      group.Millis
	servedAt group.Millis
	identity string
	nonces   int
	jumped   bool
	layout   *group.Layout // for the next step only, as is order
	order    *group.Order
	known    map[string]*knowledge
	saved    []snapshot
	requests int
	unheard  map[*protocol.HeartbeatRequest]bool // nobody takes the answer
	last     []group.Reply
}

// knowledge is what a scripted member learnt from its last answer.
type knowledge struct {
	epoch, version, sequence int64
	lineage                  string
	owned                    []int
}

// snapshot is what a load of the store gave.
type snapshot struct {
	g    *group.Group
	live map[string]group.Liveness
	now  group.Millis
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{
		t: t, cfg: group.DefaultConfig(), now: start, identity: "store-1",
		live: map[string]group.Liveness{}, known: map[string]*knowledge{},
		unheard: map[*protocol.HeartbeatRequest]bool{},
	}
}

// run carries out one command of a script:
//
//	group shards=2 barrier     makes the group; with version=… it takes what layout does
//	config max-members=2       changes the timing or a limit
//	beat A own=0 …             a heartbeat, input lines add more to the same step
//	tick                       a step without heartbeats
//	pass 3s unserved jump      moves the store's clock
//	save                       keeps a view of the store, counted from 1
//	restore 1                  takes the store back to a view
//	stale 1                    decides the input lines on view 1, then commits
//	cached 1                   carries the input lines out by touch on view 1, as E6 allows
//	identity store-2           the store has another identity from now on
//	layout version=2 shards=2 read=4 closed=2+3 lost=1 cause=SEAL
//	                           a step with a layout to copy, input lines add heartbeats;
//	                           view=1 decides on view 1
//	order barrier|unbar|fence m
//	                           a step with an operator's order
//	lose A                     the liveness of A is gone
//	show                       prints the state
func (w *world) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	switch d.Cmd {
	case "group":
		return w.create(d)
	case "config":
		return w.configure(t, d)
	case "beat":
		return w.apply(w.requestsOf(t, d), w.snap())
	case "tick":
		return w.apply(nil, w.snap())
	case "layout":
		w.layout = layoutOf(t, d)
		return w.apply(w.inputOf(t, d), w.layoutView(t, d))
	case "order":
		w.order = orderOf(t, d)
		return w.apply(w.inputOf(t, d), w.snap())
	case "stale":
		return w.apply(w.inputOf(t, d), w.view(t, d))
	case "cached":
		return w.touch(w.inputOf(t, d), w.view(t, d))
	case "pass":
		return w.pass(t, d)
	case "save":
		w.saved = append(w.saved, w.snap())
		return "view " + strconv.Itoa(len(w.saved))
	case "restore":
		saved := w.view(t, d)
		w.g, w.live = saved.g, maps.Clone(saved.live)
		return w.show()
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
	layout := group.Whole(shards)
	if d.HasArg("version") {
		layout = *layoutOf(w.t, d)
	}
	w.g = group.New(w.cfg, group.Birth{
		StreamPrefix: "orders", ConsumerGroup: "g", Layout: layout, Lineage: w.nonce(),
		Identity: w.identity, Now: w.now, Barrier: d.HasArg("barrier"),
	})
	w.live = map[string]group.Liveness{}
	w.servedAt = w.now
	return w.show()
}

func (w *world) configure(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "max-members":
			w.cfg.MaxMembers = int(number(t, arg.Vals[0]))
		case "rebalance-timeout":
			w.cfg.RebalanceTimeout = duration(t, arg.Vals[0])
		case "barrier-extra":
			w.cfg.BarrierExtra = duration(t, arg.Vals[0])
		case "stale-retention":
			w.cfg.StaleRetention = duration(t, arg.Vals[0])
		default:
			t.Fatalf("unknown setting %q", arg.Key)
		}
	}
	return "set" // also what a coordinator would refuse to start with
}

func (w *world) nonce() string {
	w.nonces++
	return fmt.Sprintf("L%d", w.nonces)
}

// pass moves the store's clock; the coordinator serves the group meanwhile unless
// "unserved" is given, "jump" makes it a step of the store's clock alone.
func (w *world) pass(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	w.now = w.now.Add(duration(t, d.CmdArgs[0].Key))
	w.jumped = d.HasArg("jump")
	if !d.HasArg("unserved") {
		w.servedAt = w.now
	}
	return w.clockText()
}

func (w *world) snap() snapshot {
	return snapshot{g: w.g, live: maps.Clone(w.live), now: w.now}
}

// view returns the save that the first argument names, counted from 1.
func (w *world) view(t *testing.T, d *datadriven.TestData) snapshot {
	t.Helper()
	return w.saved[number(t, d.CmdArgs[0].Key)-1]
}

// requestsOf reads the heartbeat of the command line and those of the input lines.
func (w *world) requestsOf(t *testing.T, d *datadriven.TestData) []*protocol.HeartbeatRequest {
	t.Helper()
	words := make([]string, len(d.CmdArgs))
	for i, arg := range d.CmdArgs {
		words[i] = arg.String()
	}
	requests := w.inputOf(t, d)
	if len(words) > 0 {
		requests = append([]*protocol.HeartbeatRequest{w.request(t, strings.Join(words, " "))}, requests...)
	}
	return requests
}

func (w *world) inputOf(t *testing.T, d *datadriven.TestData) []*protocol.HeartbeatRequest {
	t.Helper()
	var requests []*protocol.HeartbeatRequest
	for line := range strings.Lines(d.Input) {
		requests = append(requests, w.request(t, strings.TrimSpace(line)))
	}
	return requests
}

// apply decides on what a load gave and stores the outcome as a real store would: only
// if the token is still the same and the liveness relied on has not moved (T3).
func (w *world) apply(requests []*protocol.HeartbeatRequest, on snapshot) string {
	out := group.Step(w.cfg, on.g, group.Input{
		Now: on.now, Fresh: true, Live: on.live, ServedAt: w.servedAt, Identity: w.identity,
		ClockJumped: w.jumped, Nonce: w.nonce(), Heartbeats: requests, Layout: w.layout, Order: w.order,
	})
	w.layout, w.order = nil, nil
	text := stepText(out)
	if on.g != w.g {
		return text + "conflict: another commit came first\n"
	}
	for id, seen := range out.Unmoved {
		if l := w.live[id]; l.Deadline != seen.Deadline || l.Sequence != seen.Sequence {
			return text + "conflict: the liveness of " + id + " has moved\n"
		}
	}
	w.jumped, w.servedAt = false, w.now
	if out.Next != nil {
		require.Equal(w.t, on.g.MetadataVersion+1, out.Next.MetadataVersion, "a commit raises the version by one")
		w.g = out.Next
	}
	w.store(out)
	return text + w.deliver(requests, out)
}

// touch carries out heartbeats without a load, which is allowed if the step is steady, the
// store still has the same token (E6), and the leases still run (H3).
func (w *world) touch(requests []*protocol.HeartbeatRequest, on snapshot) string {
	out := group.Step(w.cfg, on.g, group.Input{Now: on.now, Live: on.live, Heartbeats: requests})
	if !out.Steady {
		return "needs a fresh state\n"
	}
	if on.g != w.g {
		return "touch refused: another token, nothing written\n"
	}
	for _, b := range out.Beats {
		if id := b.Request.MemberID; w.live[id].Deadline <= w.now {
			return "touch refused: the lease of " + id + " does not run, nothing written\n"
		}
	}
	w.store(out)
	return w.deliver(requests, out)
}

func (w *world) deliver(requests []*protocol.HeartbeatRequest, out group.Output) string {
	var b strings.Builder
	w.last = out.Replies
	for i, r := range out.Replies {
		w.learn(requests[i], r.Response)
		b.WriteString(w.replyText(r) + "\n")
	}
	return b.String()
}

func (w *world) store(out group.Output) {
	for _, id := range out.Forget {
		delete(w.live, id)
	}
	for _, beat := range out.Beats {
		l := w.live[beat.Request.MemberID]
		if seq := beat.Request.Sequence; !beat.Forced && beat.Request.Incarnation == l.Incarnation && seq > 0 && seq <= l.Sequence {
			continue // a cached view did not know that it repeats
		}
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
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}
