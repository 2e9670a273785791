package pgstore_test

import (
	"maps"
	"testing"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
)

// claims are tests, by what they claim, that share a server. Each uses databases of its own.
type claims map[string]func(*testing.T, *postgresproc.Server)

func TestOnOneServer(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	all := claims{
		"faults that need a hand have their names":                         faultsByName,
		"a row that somebody holds is a timeout and nothing is written":    rowHeld,
		"a full pool is a timeout and nothing was sent":                    poolFull,
		"a statement that was undone for another is run again":             undone,
		"the functions refuse another isolation than READ COMMITTED":       isolated,
		"an ordinary user reads all parts of the identity (M1)":            identityParts,
		"a dump that is loaded is another store (M1)":                      dumpLoaded,
		"a commit whose answer was lost is answered when asked again":      commitCut,
		"a beat whose answer was lost is a repeat (E5)":                    beatCut,
		"what is asked all the time costs one round trip":                  oneStatement,
		"a taker of a lease gives up after its wait, and with its context": leaseGivenUp,
		"leases that were released leave nothing behind (F31)":             leaseLeavesNothing,
	}
	maps.Copy(all, raceClaims())
	maps.Copy(all, schemaClaims())
	for name, check := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, server)
		})
	}
}
