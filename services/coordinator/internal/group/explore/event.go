package explore

import (
	"fmt"
	"strings"
)

// Kind is what happens in an event.
type Kind int8

// The kinds of events.
const (
	Pause           Kind = iota // time goes by: Arg is the pause of the setup
	RoundTrip                   // a heartbeat on a good day, by Pod; Mode AtOnce or Cached
	Send                        // a heartbeat is on its way
	Deliver                     // a request reaches Pod, Mode says what it does with it
	Return                      // an answer reaches its process
	Drop                        // a message is lost; Mode 1 for an answer
	Tick                        // Pod looks what is due; Mode Later
	Conclude                    // Pod carries out what it has loaded for; Mode says whether it dies
	Handled                     // the handlers of shards that are given back end, and those that have records
	Start                       // a process begins: Arg is the member, Mode 1 an old client
	Leave                       // a process gives everything back, to leave
	Depart                      // it leaves now; Mode 1 suspends
	Crash                       // a process ends; Mode 1 restarts it
	Twin                        // another process begins under the id; Mode 1 is an old client
	Lie                         // a report names shard Arg, which is not read; Mode 1: says REVOKED too early
	Calm                        // Arg heartbeat intervals in which handlers do not end
	Restart                     // Pod dies and comes back
	FailOver                    // the store loses Arg commits
	Jump                        // the store's clock jumps by Arg
	LoseLiveness                // of member Arg
	Recreate                    // the group's key is lost and the group created again
	Drive                       // Pod's driver goes on, Arg is what Redis says; Mode 1 later, 2 with a heartbeat
	Scale                       // to Arg shards
	RollBack                    // the resharding is undone
	LoseShard                   // shard Arg is missing
	StreamFallsBack             // by Arg changes
	OrderBarrier                // at Pod
	OrderUnbar                  // at Pod
	OrderFence                  // of member Arg, at Pod
	AskRoute                    // the producer asks where to
	Publish                     // a record to shard Arg
	Read                        // a process reads what shard Arg has for it
	Corrupt                     // the stored record of the group: Arg is the damage
	kinds
)

// How a request is dealt with.
const (
	AtOnce  int8 = iota // loaded for, decided and carried out
	Cached              // by touch on the cached snapshot, if that can be
	Later               // loaded for; the rest is an event of its own
	Batched             // at once, with the next request under way
	BatchedLater
	Repeated // at once, and the message stays under way
)

// Event is one thing that may happen. It names processes by life and messages by sender and
// age, so that it stays the same when others are left out; lives are counted over all groups.
type Event struct {
	Kind  Kind
	Group int8 // of the stream, 0 also for what concerns no group
	Pod   int8
	Age   int8 // of the message among those of the process, 0 the newest
	Arg   int8
	Mode  int8
	Life  int16
}

func (k Kind) String() string {
	return [kinds]string{
		"Pause", "RoundTrip", "Send", "Deliver", "Return", "Drop", "Tick", "Conclude", "Handled", "Start", "Leave", "Depart",
		"Crash", "Twin", "Lie", "Calm", "Restart", "FailOver", "Jump", "LoseLiveness", "Recreate", "Drive", "Scale", "RollBack",
		"LoseShard", "StreamFallsBack", "OrderBarrier", "OrderUnbar", "OrderFence",
		"AskRoute", "Publish", "Read", "Corrupt",
	}[k]
}

// String writes an event as a line of a report.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	if e.Life != 0 {
		fmt.Fprintf(&b, " process %d", e.Life)
	}
	if e.Age != 0 {
		fmt.Fprintf(&b, " age %d", e.Age)
	}
	if e.Arg != 0 {
		fmt.Fprintf(&b, " arg %d", e.Arg)
	}
	fmt.Fprintf(&b, " pod C%d", e.Pod+1)
	if e.Group != 0 {
		fmt.Fprintf(&b, " group %s", groupName(int(e.Group)))
	}
	if e.Mode != 0 {
		fmt.Fprintf(&b, " mode %d", e.Mode)
	}
	return b.String()
}

// weight is how likely a walk takes an event of the kind, against the others that may happen.
func (k Kind) weight(s *Setup) int {
	switch {
	case k == FailOver && s.Eager:
		return 8
	case k == Recreate && s.Has(Corruption): // it is the repair
		return 4
	}
	return [kinds]int{
		Pause: 20, RoundTrip: 30, Send: 8, Deliver: 8, Return: 8, Drop: 3, Tick: 5, Conclude: 14, Handled: 5, Start: 6,
		Leave: 1, Depart: 2, Crash: 3, Twin: 3, Lie: 4, Calm: 4, Restart: 2, FailOver: 1, Jump: 1, LoseLiveness: 1,
		Recreate: 1, Drive: 45, Scale: 8, RollBack: 3, LoseShard: 2, StreamFallsBack: 2, OrderBarrier: 1, OrderUnbar: 2,
		OrderFence: 2, AskRoute: 6, Publish: 6, Read: 8, Corrupt: 2,
	}[k]
}
