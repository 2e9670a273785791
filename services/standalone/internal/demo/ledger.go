package demo

import (
	"fmt"
	"sync"
	"time"
)

// Counts are the figures of a demo so far.
type Counts struct {
	// Produced are records that Redis has taken; Handled those of them handled at least
	// once; Lag the difference.
	Produced, Handled, Lag int
	// Duplicates counts handlings beyond the first of a record.
	Duplicates int
	// Refused and Uncertain count records that Redis did not take, or perhaps took.
	Refused, Uncertain int
	// Earlier counts handlings of records that another run has left.
	Earlier int
	// DoubleReads counts handlings on a shard that another member was reading.
	DoubleReads int
	// Overdue counts records that were not handled in time; they may have been since.
	Overdue int
	// Faults counts everything that was found wrong.
	Faults int
}

// ledger checks the promises of the suite on what producer and consumers tell it. Times
// count from the start of the demo; the ledger reads no clock.
type ledger struct {
	mu      sync.Mutex
	bound   time.Duration // by when a record is to be handled
	records map[int]*record
	settled int // all records below are handled and forgotten
	next    int // the first number not given out
	shards  map[int]*shard
	counts  Counts
	faults  []string
}

// record is one record that was to be published, by its number.
type record struct {
	state   state
	since   time.Duration // when it took that state
	handled bool
	overdue bool
}

// state is what is known about a record in Redis.
type state int

const (
	sending state = iota
	taken         // Redis has it
	refused       // Redis does not have it
	unknown       // Redis may have it
)

// shard is what the handlers on one shard tell about its owners.
type shard struct {
	owner   string // of the newest fence token seen
	token   int64
	running map[string]int // handlers that run, by member
}

func newLedger(bound time.Duration) *ledger {
	return &ledger{bound: bound, records: map[int]*record{}, shards: map[int]*shard{}}
}

// publishing gives out the number of the next record.
func (l *ledger) publishing() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	number := l.next
	l.next++
	l.records[number] = &record{}
	return number
}

// published notes that Redis has taken a record. It may have been handled already.
func (l *ledger) published(number int, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.Produced++
	r := l.records[number]
	r.state, r.since = taken, at
	if r.handled {
		l.counts.Handled++
	}
}

// unpublished notes that a record is not in Redis, or perhaps not.
func (l *ledger) unpublished(number int, uncertain bool, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.records[number]
	r.state, r.since = refused, at
	if uncertain {
		r.state = unknown
		l.counts.Uncertain++
	} else {
		l.counts.Refused++
	}
}

// delivery is a record in the hands of a member.
type delivery struct {
	Number int // below 0 for a record of another run
	Shard  int
	Member string
	Token  int64
}

// begin notes that a handler starts. Fence tokens grow with every change of owner: a
// handler must not start with a token below one that was seen, nor beside one of another
// member.
func (l *ledger) begin(d delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shards[d.Shard]
	if s == nil {
		s = &shard{running: map[string]int{}}
		l.shards[d.Shard] = s
	}
	other := ""
	for member, handlers := range s.running {
		if member != d.Member && handlers > 0 {
			other = member
		}
	}
	switch {
	case other != "":
		l.doubleRead("%s handles record %d of shard %d while %s handles one", d.Member, d.Number, d.Shard, other)
	case d.Token < s.token, d.Token == s.token && s.owner != d.Member:
		l.doubleRead("%s handles record %d of shard %d with token %d after %s with token %d",
			d.Member, d.Number, d.Shard, d.Token, s.owner, s.token)
	}
	if d.Token >= s.token {
		s.owner, s.token = d.Member, d.Token
	}
	s.running[d.Member]++
}

func (l *ledger) doubleRead(format string, args ...any) {
	l.counts.DoubleReads++
	l.add("two readers: " + fmt.Sprintf(format, args...))
}

// fault notes something else that should not be.
func (l *ledger) fault(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(text)
}

func (l *ledger) add(fault string) {
	l.counts.Faults++
	l.faults = append(l.faults, fault)
}

// end notes that a handler has returned; done tells that it handled and acknowledged.
func (l *ledger) end(d delivery, done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shards[d.Shard].running[d.Member]--
	if !done {
		return
	}
	if d.Number < 0 {
		l.counts.Earlier++
		return
	}
	r := l.records[d.Number]
	switch {
	case r == nil || r.handled: // forgotten records were handled
		l.counts.Duplicates++
	default:
		r.handled = true
		if r.state == taken {
			l.counts.Handled++
		}
	}
}

// sweep looks for records that should have been handled by now, and forgets what is done.
func (l *ledger) sweep(now time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for number := l.settled; number < l.next; number++ {
		r := l.records[number]
		if age := now - r.since; r.state == taken && !r.handled && !r.overdue && age > l.bound {
			r.overdue = true
			l.counts.Overdue++
			l.add(fmt.Sprintf("record %d was published %.0fs ago and is not handled", number, age.Seconds()))
		}
	}
	for l.settled < l.next && l.records[l.settled].over(now, 10*l.bound) {
		delete(l.records, l.settled)
		l.settled++
	}
}

// over tells whether nothing but repeats can be heard of a record. One that Redis may have
// is waited for until patience has passed.
func (r *record) over(now, patience time.Duration) bool {
	switch r.state {
	case taken:
		return r.handled
	case refused:
		return true
	case unknown:
		return r.handled || now-r.since > patience
	case sending:
	}
	return false
}

// read returns the figures so far.
func (l *ledger) read() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := l.counts
	counts.Lag = counts.Produced - counts.Handled
	return counts
}

// takeFaults returns the faults that were found since the last call.
func (l *ledger) takeFaults() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	faults := l.faults
	l.faults = nil
	return faults
}
