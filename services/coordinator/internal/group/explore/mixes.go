package explore

import (
	"time"
)

// pauses of walks meet the ends of leases exactly.
func pauses() []time.Duration {
	cfg := Timing()
	return []time.Duration{
		250 * time.Millisecond, time.Second, 3 * time.Second, cfg.Lease / 2, cfg.ClientLease - time.Millisecond,
		time.Millisecond, cfg.ClientLease, cfg.Lease, cfg.RebalanceTimeout,
	}
}

// Mix returns a setup for walks.
func Mix(name string, shards, processes int, list ...Fault) Setup {
	s := Setup{
		Name: name, Shards: shards, Processes: processes, Pods: 2, Bag: 4, Pauses: pauses(), Depth: 60,
		Skew: 30 * time.Second, Fair: true,
	}
	return s.With(Drops, Delays, Batches, Goodbyes).With(list...)
}

// Reshaped returns a setup for walks in which the stream's record changes.
func Reshaped(name string, shards, most, processes int, list ...Fault) Setup {
	s := Mix(name, shards, processes, list...).With(Scaling)
	s.Most, s.Depth = most, 2*s.Depth
	return s
}

// EveryFault is all that a walk may be troubled by without promising less.
func EveryFault() []Fault {
	return []Fault{Duplicates, Crashes, Twins, BadReports, PodCrashes, FailOvers, Jumps}
}

// Mixes are the setups of random walks. Few faults lead deeper, many find what meets.
func Mixes() []Setup {
	used := Mix("used shards", 2, 3, Recreations)
	used.Barrier = true
	all := append(EveryFault(), OldClients)
	return append([]Setup{
		Mix("plain", 2, 3),
		Mix("duplicates", 2, 3, Duplicates),
		Mix("crashes and twins", 2, 4, Duplicates, Crashes, Twins),
		Mix("bad reports", 2, 3, BadReports, Duplicates),
		Mix("coordinator crashes", 2, 3, PodCrashes, Crashes),
		Mix("old clients", 2, 3, OldClients, Duplicates, Crashes, Twins),
		Mix("lost writes", 2, 3, FailOvers, Duplicates),
		Mix("clock", 2, 3, Jumps, Crashes),
		Mix("slow handlers", 2, 3, Slowness, Duplicates),
		used,
		Mix("old clients, lost", 2, 3, OldClients, FailOvers, Duplicates),
		Mix("old clients, all", 2, 4, all...),
		Mix("one shard, all", 1, 3, EveryFault()...),
		Mix("three shards, all", 3, 4, EveryFault()...),
		Mix("created again", 2, 3, append(EveryFault(), Recreations)...),
		Mix("orders", 2, 3, Orders, Unbars, Duplicates, Crashes, BadReports),
		Mix("lost liveness", 2, 3, LostLiveness, Orders, BadReports, Duplicates, Crashes),
	}, append(reshardingMixes(), sharingMixes()...)...)
}

// TwoGroups returns a setup in which the stream has two groups. What concerns both, above all
// a seal, takes more events.
func TwoGroups(s Setup) Setup {
	s.Groups, s.Depth = 2, s.Depth*3/2
	return s
}

// sharingMixes are those in which two groups share the stream (L1), or a producer adds records
// (L3), or a record cannot be read (M6).
func sharingMixes() []Setup {
	all := append(EveryFault(), Publishes, Rollbacks, StreamLosses, LostShards, LostLiveness, Orders)
	return []Setup{
		TwoGroups(Reshaped("two groups", 2, 3, 2, Rollbacks, Duplicates, Crashes)),
		TwoGroups(Reshaped("two groups, stale producers", 2, 3, 2, Publishes, Rollbacks, Crashes)),
		TwoGroups(Reshaped("two groups, stream falls back", 2, 3, 2, Publishes, StreamLosses, Rollbacks, LostShards, Crashes)),
		TwoGroups(Reshaped("two groups, corrupt", 2, 3, 2, Publishes, Corruption, LostShards, Rollbacks, FailOvers)),
		TwoGroups(Reshaped("two groups, all", 2, 3, 2, append(all, Corruption)...)),
		Reshaped("stale producers", 2, 3, 2, Publishes, Rollbacks, Crashes, Duplicates, PodCrashes),
		Reshaped("stale producers, stream falls back", 2, 4, 2, Publishes, StreamLosses, Rollbacks),
		Reshaped("stale producers, old clients", 2, 4, 3, Publishes, OldClients, Rollbacks, Crashes, Twins, LostShards),
		Reshaped("stale producers, all", 2, 3, 3, all...),
		Mix("corrupt", 2, 3, Corruption, Duplicates, Crashes, Twins),
	}
}

// reshardingMixes are those in which the stream's record changes.
func reshardingMixes() []Setup {
	all := append(EveryFault(), Rollbacks, StreamLosses, LostShards, LostLiveness, Orders, OldClients)
	return []Setup{
		Reshaped("scale", 2, 4, 3, Crashes),
		Reshaped("scale and rollback", 3, 4, 3, Rollbacks, Duplicates),
		Reshaped("scale, old clients", 2, 3, 3, Rollbacks, OldClients, Duplicates, Crashes, Twins),
		Reshaped("scale, slow handlers", 2, 3, 3, Rollbacks, Slowness),
		Reshaped("scale, lost writes", 2, 3, 3, Rollbacks, FailOvers, Duplicates, PodCrashes),
		Reshaped("scale, stream falls back", 2, 3, 3, Rollbacks, StreamLosses, PodCrashes),
		Reshaped("scale, lost shards", 2, 3, 3, Rollbacks, LostShards, Crashes),
		Reshaped("scale, all", 2, 4, 4, all...),
	}
}
