package observe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

func TestOnlyWhatIsNotKnownIsAskedAboutUnreadEntries(t *testing.T) {
	t.Parallel()
	full := redisx.Stream{Length: 5_000, FirstID: "10-0", LastID: "20-0", EntryBytes: 100}
	short, heavy := full, full
	short.Length, heavy.EntryBytes = 100, 64<<10
	cases := map[string]struct {
		stream    redisx.Stream
		delivered string
		lag       redisx.Count
		want      unread
	}{
		"nothing is there":                 {redisx.Stream{}, "5-0", redisx.Count{}, unread{tail: new(int64(0))}},
		"nothing is there, F02":            {redisx.Stream{}, "5-0", redisx.KnownCount(3), unread{tail: new(int64(0))}},
		"all are delivered":                {full, "20-0", redisx.KnownCount(0), unread{tail: new(int64(0))}},
		"more were delivered than are":     {full, "21-0", redisx.KnownCount(7), unread{tail: new(int64(0))}},
		"none is delivered":                {full, "0-0", redisx.KnownCount(5_000), unread{first: new("10-0")}},
		"none that is there, few":          {short, "9-9", redisx.Count{}, unread{tail: new(int64(100)), first: new("10-0")}},
		"a large lag":                      {full, "10-0", redisx.KnownCount(101), unread{ask: 1}},
		"a small lag is counted":           {full, "10-0", redisx.KnownCount(100), unread{ask: 101}},
		"none, they say, F03":              {full, "10-0", redisx.KnownCount(0), unread{ask: 101}},
		"an unknown lag, F05":              {full, "10-0", redisx.Count{}, unread{ask: 101}},
		"a lag that cannot be, F01":        {full, "10-0", redisx.KnownCount(5_001), unread{ask: 101}},
		"large entries are few":            {heavy, "10-0", redisx.Count{}, unread{ask: 2}},
		"an id that is none is no promise": {full, "$", redisx.Count{}, unread{}},
	}
	for name, c := range cases {
		c.stream.EntriesAdded = redisx.KnownCount(9_000)
		if many := unreadOf(c.stream, redisx.Group{LastDeliveredID: c.delivered, Lag: c.lag}, 1_000, false); c.want.ask > 0 {
			require.Equal(t, 1, many.ask, "%s: groups share what may be read", name)
		}
		require.Equal(t, c.want, unreadOf(c.stream, redisx.Group{LastDeliveredID: c.delivered, Lag: c.lag}, 1, false), name)
		if c.want.ask == 1 {
			require.Equal(t, facts.TailLimit+1, unreadOf(c.stream, redisx.Group{LastDeliveredID: c.delivered, Lag: c.lag}, 1, true).ask, "%s: not believed", name)
		}
	}
}
