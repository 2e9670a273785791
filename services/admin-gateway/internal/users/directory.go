package users

import (
	"context"
	"sync/atomic"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// Directory holds the table that counts now. It is safe for concurrent use.
type Directory struct{ current atomic.Pointer[edition] }

// edition is a table with its number.
type edition struct {
	table      *Table
	generation uint64
}

// NewDirectory returns a directory that holds a table, as its generation 1.
func NewDirectory(table *Table) *Directory {
	d := &Directory{}
	d.current.Store(&edition{table: table, generation: 1})
	return d
}

// Replace puts a table in the place of the one before, for all that is asked from now on. A
// check that is under way ends with the table it began with.
func (d *Directory) Replace(table *Table) {
	for {
		before := d.current.Load()
		after := *table
		after.slots = before.table.slots // the bound on memory is over all tables
		if d.current.CompareAndSwap(before, &edition{table: &after, generation: before.generation + 1}) {
			return
		}
	}
}

// Principal is Table.Principal of the current table.
func (d *Directory) Principal(name string) (auth.Principal, bool) {
	return d.current.Load().table.Principal(name)
}

// Check is Table.Check of the current table.
func (d *Directory) Check(ctx context.Context, name, password string) (auth.Principal, bool, error) {
	return d.current.Load().table.Check(ctx, name, password)
}

// Generation returns the number of the current table, which grows by one with every
// Replace.
func (d *Directory) Generation() uint64 { return d.current.Load().generation }
