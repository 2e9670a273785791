package explore

import "time"

// Large is the setup of the nightly search: three members, two shards and a little of every
// fault. It does not end, it is bounded.
func Large() Setup {
	s := Setup{
		Name: "N1", Shards: 2, Most: 2, Processes: 3, Pods: 2, Bag: 3, Fair: true,
		Pauses: []time.Duration{4 * time.Second, Timing().Lease}, Skew: 30 * time.Second,
	}
	for _, f := range []Fault{
		Drops, Duplicates, Delays, Goodbyes, Crashes, Twins, BadReports, PodCrashes, FailOvers, Jumps, Scaling, Rollbacks,
	} {
		s.Budget[f] = 1
	}
	return s
}

// Shared is the setup of the search X6: two groups of one process each on one stream of two
// shards, and a producer with one record. A seal takes many events, so that it begins when
// one shard is to be removed, its drain begins, and the producer was paused with its record.
func Shared() Setup {
	s := Setup{
		Name: "X6", Groups: 2, Shards: 2, Processes: 1, Pods: 1, Bag: 1, Prompt: true, Fair: true,
		Pauses: []time.Duration{5 * time.Second},
		Before: []Event{
			{Kind: Start, Life: 1},
			{Kind: Start, Group: 1, Life: 2},
			{Kind: RoundTrip, Life: 1},
			{Kind: RoundTrip, Group: 1, Life: 2},
			{Kind: Scale, Arg: 1},
			{Kind: Drive},
			{Kind: Drive},
			{Kind: Drive}, // activated
			{Kind: Drive},
			{Kind: Drive},
			{Kind: Drive}, // copied
			{Kind: Pause},
			{Kind: RoundTrip, Life: 1},
			{Kind: RoundTrip, Group: 1, Life: 2},
			{Kind: Pause},
			{Kind: RoundTrip, Life: 1},
			{Kind: RoundTrip, Group: 1, Life: 2},
			{Kind: Drive},
			{Kind: Drive},
			{Kind: Drive}, // draining
		},
	}
	s.Budget[Scaling], s.Budget[Publishes] = 1, 1
	return s
}

// Searches are the setups of the breadth-first searches X1–X5. Pauses are few and coarse:
// two of the shorter ones end a client lease exactly, three a lease.
func Searches() []Setup {
	x1 := Setup{
		Name: "X1", Shards: 1, Processes: 2, Pods: 1, Bag: 3, Fair: true,
		Pauses: []time.Duration{4 * time.Second, Timing().Lease},
	}
	with := func(name string, change func(*Setup)) Setup {
		s := x1
		s.Name = name
		change(&s)
		return s
	}
	return []Setup{
		x1,
		with("X2", func(s *Setup) { s.Budget[Duplicates] = 1 }),
		with("X3", func(s *Setup) { s.Budget[BadReports], s.Budget[Orders] = 1, 1 }),
		with("X4", func(s *Setup) { s.Budget[FailOvers] = 1 }),
		with("X5", func(s *Setup) { s.Pods, s.Skew, s.Budget[Delays] = 2, 30*time.Second, Unlimited }),
	}
}
