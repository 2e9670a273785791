package users

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// maxHashing is how many passwords are hashed at a time at most; more than there are cores
// would take memory and win nothing.
const maxHashing = 4

// Compare tells whether a password is the one that was hashed; it takes the same time
// whatever the answer is.
type Compare func(hash auth.PasswordHash, password string) bool

// Table is a set of users. It does not change and is safe for concurrent use.
type Table struct {
	entries map[string]entry
	decoys  []auth.PasswordHash
	compare Compare
	slots   chan struct{}
}

type entry struct {
	principal auth.Principal
	hash      auth.PasswordHash
}

// Option changes how a table works.
type Option func(*Table)

// WithCompare replaces auth.PasswordHash.Matches, for who counts the comparisons.
func WithCompare(compare Compare) Option { return func(t *Table) { t.compare = compare } }

// NewTable returns the table of a configuration. The error tells every problem of every
// user, by place and name, and repeats no password and no hash. A table without users is
// one that nobody gets into.
func NewTable(list []User, options ...Option) (*Table, error) {
	t := &Table{
		entries: make(map[string]entry, len(list)),
		compare: auth.PasswordHash.Matches,
		slots:   make(chan struct{}, min(maxHashing, runtime.GOMAXPROCS(0))),
	}
	for _, option := range options {
		option(t)
	}
	if err := t.addAll(list, User.hash); err != nil {
		return nil, err
	}
	if len(t.decoys) == 0 {
		t.decoys = append(t.decoys, auth.NoPassword())
	}
	return t, nil
}

// Validate returns the error that NewTable would, without the time that it takes to hash plain
// passwords.
func Validate(list []User) error {
	t := &Table{entries: make(map[string]entry, len(list))}
	return t.addAll(list, func(user User) (auth.PasswordHash, error) {
		if user.Hash == "" {
			return auth.PasswordHash{}, nil
		}
		return user.hash()
	})
}

func (t *Table) addAll(list []User, hash func(User) (auth.PasswordHash, error)) error {
	var problems []error
	for i, user := range list {
		if err := t.add(user, hash); err != nil {
			problems = append(problems, fmt.Errorf("user %d (%q): %w", i, protocol.Echo(user.Name), err))
		}
	}
	return errors.Join(problems...)
}

func (t *Table) add(user User, hash func(User) (auth.PasswordHash, error)) error {
	problem := user.check()
	if _, twice := t.entries[user.Name]; twice {
		problem = errors.Join(problem, errors.New("is there twice"))
	}
	var made auth.PasswordHash
	if user.Hash != "" || problem == nil {
		var err error
		made, err = hash(user)
		problem = errors.Join(problem, err)
	}
	t.entries[user.Name] = entry{principal: user.principal(), hash: made}
	t.decoys = append(t.decoys, made)
	return problem
}

// Principal returns the user of a name with the rights of the table.
func (t *Table) Principal(name string) (auth.Principal, bool) {
	found, ok := t.entries[name]
	return found.principal, ok
}

// Check tells whether the password is that of the user, and who the user is if so. It
// hashes exactly once, for names that are no user's as well. When ctx ends before it is this
// password's turn to be hashed, the error is a *protocol.Error with OVERLOADED.
func (t *Table) Check(ctx context.Context, name, password string) (auth.Principal, bool, error) {
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		refusal := protocol.Errorf(protocol.CodeOverloaded, "too many passwords are being checked at the moment")
		return auth.Principal{}, false, refusal.Because(context.Cause(ctx))
	}
	defer func() { <-t.slots }()
	found, known := t.entries[name]
	if !known {
		found.hash = t.decoy(name)
	}
	matches := t.compare(found.hash, password)
	if !known || !matches {
		return auth.Principal{}, false, nil
	}
	return found.principal, true, nil
}

// decoy returns the hash that a name is compared with that is no user's: always the same
// one, so that its cost tells nothing.
func (t *Table) decoy(name string) auth.PasswordHash {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return t.decoys[uint64(sum.Sum32())%uint64(len(t.decoys))]
}
