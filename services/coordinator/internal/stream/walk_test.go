package stream_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// walk is a history of a record: orders of operators at any time, and the steps that a
// driver takes.
type walk struct {
	s    stream.Stream
	now  int64
	ids  int
	seen map[string]int // what it came by
}

func newWalk(t *rapid.T, seen map[string]int) *walk {
	return &walk{s: settled(rapid.IntRange(0, 4).Draw(t, "shards")), now: 1000, seen: seen}
}

// step draws the next thing that happens.
func (w *walk) step(t *rapid.T) {
	w.now += rapid.Int64Range(-5, 50).Draw(t, "time") // a restart may set the store's clock back
	kind := rapid.SampledFrom([]string{
		"drive", "drive", "drive", "drive", "rollback", "confirm", "lost", "found", "overtaken", "raised", "stopped", "scale", "group", "marked",
	}).Draw(t, "kind")
	if kind == "drive" && w.s.Resharding == nil {
		kind = "scale"
	}
	before := roomy(w.s)
	kept := written(t, before)
	next, err := w.do(t, before, kind)
	require.Equal(t, kept, written(t, before), "%s wrote the record given", kind)
	require.True(t, untouched(before), "%s wrote behind the record given", kind)
	if err != nil {
		require.Equal(t, before, next, kind)
		w.seen["refused "+kind]++
		return
	}
	check(t, before, next, kind)
	w.s = next
	w.note(before, kind)
}

func (w *walk) do(t *rapid.T, s stream.Stream, kind string) (stream.Stream, error) {
	switch kind {
	case "scale":
		w.ids++
		return s.Scaled(fmt.Sprint("R", w.ids), rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 6, 7}).Draw(t, "to"), ada(kind), "", w.now)
	case "rollback":
		return s.RollingBack(w.anID(t), ada(kind), w.now)
	case "confirm":
		return s.Confirmed(w.anID(t), rapid.IntRange(-1, 6).Draw(t, "index"), ada(kind), w.now)
	case "lost":
		return s.WithLost(indexes(t), w.now), nil
	case "found":
		return s.WithFound(indexes(t)), nil
	case "overtaken":
		return s.Overtaken(max(0, s.LayoutVersion+rapid.Int64Range(-2, 3).Draw(t, "copied"))), nil
	case "marked":
		return s.Marked(s.Mark+rapid.Int64Range(-3, 100).Draw(t, "found"), w.now), nil
	case "group":
		return changeGroup(t, s)
	}
	if s.Resharding == nil {
		return s, errNothing
	}
	switch kind {
	case "raised":
		return s.Raised(s.Mark+rapid.Int64Range(-3, 100).Draw(t, "found"), w.now), nil
	case "stopped":
		return s.Stopped(rapid.SampledFrom([]string{"", "", "refused"}).Draw(t, "problem"), w.now), nil
	default:
		return drive(s, w.now, func(index int) string {
			return rapid.SampledFrom([]string{"", "", "UNREAD", "PENDING"}).Draw(t, fmt.Sprint("reason of ", index))
		}), nil
	}
}

var errNothing = errors.New("nothing is under way")

func indexes(t *rapid.T) []int {
	return rapid.SliceOfN(rapid.IntRange(-1, 7), 0, 3).Draw(t, "indexes")
}

// anID draws the id of the resharding under way, a past one or none.
func (w *walk) anID(t *rapid.T) string {
	if w.s.Resharding != nil && rapid.IntRange(0, 9).Draw(t, "present") > 0 {
		return w.s.Resharding.ID
	}
	return fmt.Sprint("R", rapid.IntRange(0, w.ids+1).Draw(t, "id"))
}

func changeGroup(t *rapid.T, s stream.Stream) (stream.Stream, error) {
	name := rapid.SampledFrom([]string{"audit", "billing", "new"}).Draw(t, "name")
	switch rapid.IntRange(0, 4).Draw(t, "what") {
	case 0:
		return s.WithCreating(stream.Group{Name: name}, rapid.Bool().Draw(t, "repair"))
	case 1, 2:
		return s.WithState(name, stream.Active)
	case 3:
		return s.WithState(name, stream.Deleting)
	default:
		if g, found := s.Find(name); !found || g.State != stream.Deleting {
			return s, errNothing
		}
		return s.Without(name)
	}
}

// drive takes a resharding a step further. reason says why a shard is not empty.
func drive(s stream.Stream, now int64, reason func(index int) string) stream.Stream {
	r := s.Resharding
	judge := func(indexes []int) []stream.Judged {
		var all []stream.Judged
		for _, i := range indexes {
			j := stream.Judged{Index: i, Reason: reason(i)}
			if j.Reason == "" {
				j.Proof, j.Evidence = "LAG", "empty"
			}
			all = append(all, j)
		}
		return all
	}
	switch {
	case r.Phase == stream.PhasePreparing:
		return s.Activated(now)
	case r.Phase == stream.PhaseRollingBack && !r.Turned:
		return s.Turned(now)
	case s.Removed == 0:
		return s.Finished(now)
	case r.DrainFrom == 0:
		return s.DrainingFrom(now+30, now)
	case r.Phase == stream.PhaseActive:
		return s.Drained(now)
	case len(r.At(stream.StepClosing)) > 0:
		return s.Sealed(judge(r.At(stream.StepClosing)), now)
	default:
		return s.Judged(judge(r.At(stream.StepReading)), now)
	}
}

// check holds every transition against what all of them keep.
func check(t *rapid.T, before, after stream.Stream, kind string) {
	changed := written(t, before) != written(t, after)
	copied := before.ShardCount != after.ShardCount || before.ReadCount() != after.ReadCount() ||
		!slices.Equal(before.Closed(), after.Closed()) || !slices.Equal(before.Lost, after.Lost)
	require.Equal(t, changed, after.MetadataVersion == before.MetadataVersion+1, kind)
	require.Equal(t, !changed, after.MetadataVersion == before.MetadataVersion, kind)
	if kind == "overtaken" {
		require.False(t, copied)
		require.GreaterOrEqual(t, after.LayoutVersion, before.LayoutVersion)
	} else {
		require.Equal(t, copied, after.LayoutVersion == before.LayoutVersion+1, kind)
		require.Equal(t, !copied, after.LayoutVersion == before.LayoutVersion, kind)
	}
	checkMarks(t, before, after, kind)
	checkReading(t, before, after, kind)

	require.LessOrEqual(t, len(after.Past), stream.MaxPast)
	for i, r := range after.Past {
		require.True(t, r.Finished())
		require.True(t, i == 0 || len(r.Shards) == 0)
	}
	if r := after.Resharding; r != nil { // L1
		require.Len(t, after.Active(), len(after.Groups))
		require.Equal(t, r.MayRollBack(), r.Phase != stream.PhaseRollingBack)
	}
}

// checkMarks: a mark once given is never given to another direction (L2).
func checkMarks(t *rapid.T, before, after stream.Stream, kind string) {
	require.GreaterOrEqual(t, after.Mark, before.Mark, kind)
	now, was := after.Resharding, before.Resharding
	if now == nil {
		return
	}
	require.LessOrEqual(t, now.Mark, after.Mark, kind)
	if was == nil || was.Mark != now.Mark || was.Phase != now.Phase && now.Phase == stream.PhaseRollingBack {
		require.Greater(t, now.Mark, before.Mark, kind)
	}
}

// checkReading: a shard that producers were told of leaves the reading set sealed only,
// and comes back into routing only from being read (L3, L5, L8).
func checkReading(t *rapid.T, before, after stream.Stream, kind string) {
	for i := after.ReadCount(); i < before.ReadCount(); i++ {
		shard, found := after.Resharding.Shard(i)
		require.True(t, found && shard.Step == stream.StepSealed, "%s took shard %d away", kind, i)
	}
	for _, i := range after.Closed() {
		require.GreaterOrEqual(t, i, after.ShardCount, kind)
		shard, _ := after.Resharding.Shard(i)
		require.NotEmpty(t, shard.Proof, "I12: shard %d is closed without proof", i)
	}
	for _, i := range after.Lost {
		require.Contains(t, after.Readable(), i, kind)
	}
	if r := after.Resharding; r != nil && after.ShardCount > before.ShardCount && r.From > r.To {
		require.True(t, r.Turned, "%s: removed shards are routed again", kind)
	}
}

// note counts what the history came by.
func (w *walk) note(before stream.Stream, kind string) {
	r := w.s.Resharding
	if r == nil && before.Resharding != nil {
		w.seen["ended "+string(w.s.Past[0].Phase)]++
	}
	if r == nil {
		return
	}
	direction := "out"
	if r.To < r.From {
		direction = "in"
	}
	phase := direction + " " + string(r.Phase)
	w.seen[phase]++
	if kind == "rollback" {
		w.seen[fmt.Sprintf("%s rolled back in %s", direction, before.Resharding.Phase)]++
		if len(r.At(stream.StepSealed)) > 0 {
			w.seen["rolled back with sealed shards"]++
		}
	}
	for _, shard := range r.Shards {
		w.seen[phase+" "+string(shard.Step)]++
		if was, found := before.Resharding.Shard(shard.Index); found && was.Step == stream.StepClosing && shard.Step == stream.StepReading {
			w.seen["reopened"]++
		}
	}
	if len(w.s.Lost) < len(before.Lost) && kind == "drive" {
		w.seen["closed a lost one"]++
	}
}

// history draws a walk and brings what is under way to its end: when shards are empty it
// comes to one (V3).
func history(seen map[string]int) *rapid.Generator[stream.Stream] {
	return rapid.Custom(func(t *rapid.T) stream.Stream {
		w := newWalk(t, seen)
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			w.step(t)
		}
		for i := 0; w.s.Resharding != nil; i++ {
			require.Less(t, i, 10, "a resharding never ends: %s", show(w.s))
			wanted := w.s.Resharding.To
			if w.s.Resharding.Phase == stream.PhaseRollingBack {
				wanted = w.s.Resharding.From
			}
			before := w.s
			w.s = drive(before, w.now, func(int) string { return "" })
			check(t, before, w.s, "drive")
			if w.s.Resharding == nil {
				require.Equal(t, wanted, w.s.ShardCount)
				require.Equal(t, wanted, w.s.ReadCount())
			}
		}
		return w.s
	})
}

// TestEveryHistoryOfARecordKeepsItsPromises and ends.
func TestEveryHistoryOfARecordKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { history(map[string]int{}).Draw(t, "history") })
}

// TestHistoriesComeByEverything, so that the promises are not kept by nothing happening.
func TestHistoriesComeByEverything(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range 200 {
		history(seen).Example(seed)
	}
	for _, what := range []string{
		"out PREPARING", "out ACTIVE", "out ROLLING_BACK", "in PREPARING", "in ACTIVE", "in DRAINING", "in ROLLING_BACK",
		"in DRAINING CLOSING", "in DRAINING SEALED", "out ROLLING_BACK SEALED", "reopened", "rolled back with sealed shards",
		"out rolled back in PREPARING", "out rolled back in ACTIVE", "in rolled back in PREPARING", "in rolled back in ACTIVE",
		"in rolled back in DRAINING", "ended DEPRECATED", "ended ROLLED_BACK", "closed a lost one", "refused scale",
		"refused rollback", "refused confirm", "refused group",
	} {
		require.Greater(t, seen[what], 9, "the histories hardly came to %s", what)
	}
}

func written(t require.TestingT, s stream.Stream) string {
	data, err := json.Marshal(s)
	require.NoError(t, err)
	return string(data)
}

// roomy returns the record in lists of its own that have room for more.
func roomy(s stream.Stream) stream.Stream {
	s.Groups, s.Lost, s.Past = room(s.Groups), room(s.Lost), room(s.Past)
	if s.Resharding != nil {
		r := *s.Resharding
		r.Shards = room(r.Shards)
		s.Resharding = &r
	}
	return s
}

func room[T any](list []T) []T {
	if list == nil {
		return nil
	}
	return append(make([]T, 0, len(list)+4), list...)
}

// untouched tells whether nothing was written behind the lists.
func untouched(s stream.Stream) bool {
	clean := unused(s.Groups) && unused(s.Lost) && unused(s.Past)
	return clean && (s.Resharding == nil || unused(s.Resharding.Shards))
}

func unused[T any](list []T) bool {
	behind := list[len(list):cap(list)]
	return len(behind) == 0 || reflect.DeepEqual(behind, make([]T, len(behind)))
}
