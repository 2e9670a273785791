package group_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// T15 (H3), H5: orderings that would let two members read one shard are refused at start.
func TestT15ConfigRefusesUnsafeTiming(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edit func(*group.Config)
		says string // "" when it is fine
	}{
		"the defaults":                        {func(*group.Config) {}, ""},
		"rebalance timeout below two leases":  {func(c *group.Config) { c.RebalanceTimeout = 2*c.Lease - 1 }, "rebalance-timeout"},
		"rebalance timeout below one lease":   {func(c *group.Config) { c.RebalanceTimeout = c.Lease / 2 }, "rebalance-timeout"},
		"rebalance timeout of two leases":     {func(c *group.Config) { c.RebalanceTimeout = 2 * c.Lease }, ""},
		"no rebalance timeout":                {func(c *group.Config) { c.RebalanceTimeout = 0 }, "rebalance-timeout"},
		"client lease above 0.8 of the lease": {func(c *group.Config) { c.ClientLease = c.Lease*8/10 + 1 }, "client-lease"},
		"client lease of 0.8 of the lease":    {func(c *group.Config) { c.ClientLease = c.Lease * 8 / 10 }, ""},
		"client lease of the lease":           {func(c *group.Config) { c.ClientLease = c.Lease }, "client-lease"},
		"no client lease":                     {func(c *group.Config) { c.ClientLease = 0 }, "client-lease"},
		"no lease":                            {func(c *group.Config) { c.Lease = 0 }, "member-lease-ttl"},
		"negative lease":                      {func(c *group.Config) { c.Lease = -time.Second }, "member-lease-ttl"},
		"interval above half a client lease":  {func(c *group.Config) { c.HeartbeatInterval = c.ClientLease/2 + 1 }, "heartbeat-interval"},
		"no interval":                         {func(c *group.Config) { c.HeartbeatInterval = 0 }, "heartbeat-interval"},
		"no hint":                             {func(c *group.Config) { c.HintInterval = 0 }, "hint-interval"},
		"negative barrier extra":              {func(c *group.Config) { c.BarrierExtra = -1 }, "barrier-extra"},
		"no retention":                        {func(c *group.Config) { c.StaleRetention = 0 }, "stale-member-retention"},
		"no members":                          {func(c *group.Config) { c.MaxMembers = 0 }, "max-members"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := group.DefaultConfig()
			test.edit(&cfg)
			err := cfg.Validate()
			if test.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.says)
		})
	}
}

func TestConfigReportsEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	err := group.Config{RebalanceTimeout: -1, BarrierExtra: -1, StaleRetention: -1}.Validate()
	for _, key := range []string{
		"heartbeat-interval", "hint-interval", "member-lease-ttl", "client-lease", "rebalance-timeout",
		"barrier-extra", "stale-member-retention", "max-members",
	} {
		require.ErrorContains(t, err, key)
	}
}

// E5: what an answer lends is 0.8 of what is left, at most the client lease, never below 0.
func TestE5LeaseFor(t *testing.T) {
	t.Parallel()
	cfg := group.DefaultConfig()
	tests := []struct{ left, want time.Duration }{
		{time.Minute, cfg.ClientLease},
		{cfg.Lease, cfg.ClientLease},
		{5 * time.Second, 4 * time.Second},
		{10 * time.Millisecond, 8 * time.Millisecond},
		{0, 0},
		{-3 * time.Second, 0},
		{-100 * 24 * time.Hour, 0},
	}
	for _, test := range tests {
		require.Equal(t, test.want, cfg.LeaseFor(test.left), test.left.String())
	}
}
