package redisx

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Need is a command that a program sends, with a key that stands for all keys it is sent
// with. It is what an access control list of Redis has to allow.
type Need struct {
	name, key string
	words     []string
}

// NeedOn returns the need of a command, which may have a subcommand behind a space, on a key,
// with further arguments. An empty key is a command without one.
func NeedOn(key, command string, args ...string) Need {
	words := strings.Fields(command)
	if key != "" {
		words = append(words, key)
	}
	return Need{name: command, key: key, words: append(words, args...)}
}

// NeedScript returns the need of running a script on a key by its digest.
func NeedScript(key string) Need {
	return Need{name: "EVALSHA", key: key, words: []string{"EVALSHA", strings.Repeat("0", 40), "1", key}}
}

// String returns the command and the key.
func (n Need) String() string {
	if n.key == "" {
		return n.name
	}
	return n.name + " on " + n.key
}

// checkSource answers which needs are refused to whoever runs it, by their numbers from 1. It
// runs none of them. A server before 7 cannot be asked, and a command that a server does not
// know is not refused. ARGV: the number of words and the words of each need.
const checkSource = `
local refused, need, at = {}, 0, 1
if not redis.acl_check_cmd then return refused end
while ARGV[at] do
  need = need + 1
  local last = at + tonumber(ARGV[at])
  local asked, allowed = pcall(redis.acl_check_cmd, unpack(ARGV, at + 1, last))
  if asked and not allowed then refused[#refused + 1] = need end
  at = last + 1
end
return refused`

// Refused returns those of the needs that Redis would refuse to the client's user, without
// running any of them: Redis before 7.2 does not say which command of a script it has refused.
// In a cluster every primary is asked, as each has its own list. It fails when one does not
// answer; nothing is concluded from that. A user who may not EVAL needs that first.
func Refused(ctx context.Context, rdb redis.UniversalClient, needs []Need) ([]Need, error) {
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		return refusedBy(ctx, rdb, needs)
	}
	var (
		mu  sync.Mutex
		all []Need
	)
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		refused, err := refusedBy(ctx, node, needs)
		mu.Lock()
		defer mu.Unlock()
		if len(refused) > len(all) {
			all = refused
		}
		return err
	})
	return all, err
}

func refusedBy(ctx context.Context, node redis.UniversalClient, needs []Need) ([]Need, error) {
	args := []any{"EVAL", checkSource, 0}
	for _, need := range needs {
		args = append(args, len(need.words))
		for _, word := range need.words {
			args = append(args, word)
		}
	}
	numbers, err := node.Do(ctx, args...).Int64Slice()
	switch {
	case StateOf(err) == StateNoPerm && strings.HasPrefix(err.Error(), string(StateNoPerm)):
		return []Need{NeedOn("", "EVAL")}, nil
	case err != nil:
		return nil, fmt.Errorf("ask for the permissions of the Redis user: %w", err)
	}
	var refused []Need
	for _, number := range numbers {
		if number < 1 || number > int64(len(needs)) {
			return nil, fmt.Errorf("ask for the permissions of the Redis user: %w: need %d", ErrReply, number)
		}
		refused = append(refused, needs[number-1])
	}
	return refused, nil
}

// Permissions watches whether the user of a client may do what a program needs. What is missing
// is a configuration error: it does not pass by itself (storage, Failure). It is safe for
// concurrent use.
type Permissions struct {
	rdb   redis.UniversalClient
	needs []Need
	log   *slog.Logger

	mu      sync.Mutex
	problem string
	met     bool // once nothing was missing
}

// NewPermissions returns a watch that has not looked yet. It logs every change of what is
// missing once.
func NewPermissions(rdb redis.UniversalClient, needs []Need, log *slog.Logger) *Permissions {
	return &Permissions{rdb: rdb, needs: needs, log: log}
}

// Problem looks, and returns what is missing as one sentence that names the user, the commands
// and what to do, or an empty text. When Redis does not answer it returns what was found before.
func (p *Permissions) Problem(ctx context.Context) string {
	refused, err := Refused(ctx, p.rdb, p.needs)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		return p.problem
	}
	problem := describe(userOf(p.rdb), refused)
	p.met = p.met || problem == ""
	if problem != p.problem {
		p.problem = problem
		if problem == "" {
			p.log.Info("the Redis user has all permissions again")
		} else {
			p.log.Error("the Redis user lacks permissions", "problem", problem)
		}
	}
	return problem
}

// Unready is Problem for a program that has never had all permissions: one that was started with
// too few should get no requests, so that a rollout stops at it. One that has lost some later
// goes on with what it still may do.
func (p *Permissions) Unready(ctx context.Context) string {
	p.Problem(ctx)
	return p.LastUnready()
}

// LastUnready is Unready by what was found last. It asks nobody.
func (p *Permissions) LastUnready() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.met {
		return ""
	}
	return p.problem
}

// mostNamed is how many refused needs a text names.
const mostNamed = 8

func describe(user string, refused []Need) string {
	if len(refused) == 0 {
		return ""
	}
	names := make([]string, 0, mostNamed+1)
	for _, need := range refused[:min(len(refused), mostNamed)] {
		names = append(names, need.String())
	}
	if more := len(refused) - mostNamed; more > 0 {
		names = append(names, strconv.Itoa(more)+" more")
	}
	return fmt.Sprintf("the access control list of Redis (NOPERM) refuses to user %q: %s; allow it, see docs/redis-acl.md", user, strings.Join(names, ", "))
}

// userOf returns the name by which the client logs in.
func userOf(rdb redis.UniversalClient) string {
	name := ""
	switch client := rdb.(type) {
	case *redis.Client:
		name = client.Options().Username
	case *redis.ClusterClient:
		name = client.Options().Username
	}
	if name == "" {
		return "default"
	}
	return name
}
