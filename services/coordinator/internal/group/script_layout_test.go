package group_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// layoutOf reads "version=2 shards=2 read=4 closed=2+3 lost=1 cause=SEAL"; read is shards
// when it is left out, and the cause SCALE.
func layoutOf(t *testing.T, d *datadriven.TestData) *group.Layout {
	t.Helper()
	l := &group.Layout{ReadCount: -1, Cause: group.CauseScale}
	for _, arg := range d.CmdArgs {
		value := ""
		if len(arg.Vals) > 0 {
			value = arg.Vals[0]
		}
		switch arg.Key {
		case "version":
			l.Version = number(t, value)
		case "shards":
			l.ShardCount = int(number(t, value))
		case "read":
			l.ReadCount = int(number(t, value))
		case "closed":
			l.Closed = numbers(t, value)
		case "lost":
			l.Lost = numbers(t, value)
		case "cause":
			l.Cause = group.Cause(value)
		case "barrier", "view": // not of the layout
		default:
			t.Fatalf("unknown argument %q", arg.Key)
		}
	}
	if l.ReadCount < 0 {
		l.ReadCount = l.ShardCount
	}
	return l
}

// orderOf reads "barrier", "unbar", "rewrite" or "fence A".
func orderOf(t *testing.T, d *datadriven.TestData) *group.Order {
	t.Helper()
	require.NotEmpty(t, d.CmdArgs)
	switch kind := d.CmdArgs[0].Key; kind {
	case "barrier":
		return &group.Order{Kind: group.OrderBarrier}
	case "rewrite":
		return &group.Order{Kind: group.OrderRewrite}
	case "unbar":
		return &group.Order{Kind: group.OrderUnbar}
	case "fence":
		return &group.Order{Kind: group.OrderFence, Member: d.CmdArgs[1].Key}
	default:
		t.Fatalf("unknown order %q", kind)
		return nil
	}
}

// layoutView returns what a layout is decided on: the view of "view=1", or the store as it is.
func (w *world) layoutView(t *testing.T, d *datadriven.TestData) snapshot {
	t.Helper()
	for _, arg := range d.CmdArgs {
		if arg.Key == "view" {
			return w.saved[number(t, arg.Vals[0])-1]
		}
	}
	return w.snap()
}
