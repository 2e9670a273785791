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

// mix returns a setup for walks.
func mix(name string, shards, processes int, list ...Fault) Setup {
	s := Setup{
		Name: name, Shards: shards, Processes: processes, Pods: 2, Bag: 4, Pauses: pauses(), Depth: 60,
		Skew: 30 * time.Second,
	}
	return s.With(Drops, Delays, Batches, Goodbyes).With(list...)
}

// reshaped returns a setup for walks in which the stream's record changes.
func reshaped(name string, shards, most, processes int, list ...Fault) Setup {
	s := mix(name, shards, processes, list...).With(Scaling)
	s.Most, s.Depth = most, 2*s.Depth
	return s
}

// everyFault is all that a walk may be troubled by without promising less.
func everyFault() []Fault {
	return []Fault{Duplicates, Crashes, Twins, BadReports, PodCrashes, FailOvers, Jumps}
}

// Mixes are the setups of random walks. Few faults lead deeper, many find what meets.
func Mixes() []Setup {
	used := mix("used shards", 2, 3, Recreations)
	used.Barrier = true
	all := append(everyFault(), OldClients)
	return append([]Setup{
		mix("plain", 2, 3),
		mix("duplicates", 2, 3, Duplicates),
		mix("crashes and twins", 2, 4, Duplicates, Crashes, Twins),
		mix("bad reports", 2, 3, BadReports, Duplicates),
		mix("coordinator crashes", 2, 3, PodCrashes, Crashes),
		mix("old clients", 2, 3, OldClients, Duplicates, Crashes, Twins),
		mix("lost writes", 2, 3, FailOvers, Duplicates),
		mix("clock", 2, 3, Jumps, Crashes),
		mix("slow handlers", 2, 3, Slowness, Duplicates),
		used,
		mix("old clients, lost", 2, 3, OldClients, FailOvers, Duplicates),
		mix("old clients, all", 2, 4, all...),
		mix("one shard, all", 1, 3, everyFault()...),
		mix("three shards, all", 3, 4, everyFault()...),
		mix("created again", 2, 3, append(everyFault(), Recreations)...),
		mix("orders", 2, 3, Orders, Unbars, Duplicates, Crashes, BadReports),
		mix("lost liveness", 2, 3, LostLiveness, Orders, BadReports, Duplicates, Crashes),
	}, reshardingMixes()...)
}

// reshardingMixes are those in which the stream's record changes.
func reshardingMixes() []Setup {
	all := append(everyFault(), Rollbacks, StreamLosses, LostShards, LostLiveness, Orders, OldClients)
	return []Setup{
		reshaped("scale", 2, 4, 3, Crashes),
		reshaped("scale and rollback", 3, 4, 3, Rollbacks, Duplicates),
		reshaped("scale, old clients", 2, 3, 3, Rollbacks, OldClients, Duplicates, Crashes, Twins),
		reshaped("scale, slow handlers", 2, 3, 3, Rollbacks, Slowness),
		reshaped("scale, lost writes", 2, 3, 3, Rollbacks, FailOvers, Duplicates, PodCrashes),
		reshaped("scale, stream falls back", 2, 3, 3, Rollbacks, StreamLosses, PodCrashes),
		reshaped("scale, lost shards", 2, 3, 3, Rollbacks, LostShards, Crashes),
		reshaped("scale, all", 2, 4, 4, all...),
	}
}
