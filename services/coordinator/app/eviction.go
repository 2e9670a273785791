package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// errPolicyUnknown comes when INFO does not tell the policy.
var errPolicyUnknown = errors.New("INFO memory does not tell maxmemory_policy")

// evictionWarning says that Redis may throw away metadata or records when its memory is
// full (field case F34); empty when it may not. An error means it could not be found out.
func evictionWarning(ctx context.Context, rdb redis.UniversalClient) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	policies, err := evictionPolicies(ctx, rdb)
	if err != nil {
		return "", err
	}
	for _, policy := range policies {
		switch {
		case strings.HasPrefix(policy, "allkeys-"):
			return fmt.Sprintf("Redis has maxmemory-policy %s: with full memory it may evict metadata and records; set noeviction", policy), nil
		case strings.HasPrefix(policy, "volatile-"):
			return fmt.Sprintf("Redis has maxmemory-policy %s: with full memory it may evict the leases of workflows; set noeviction", policy), nil
		}
	}
	return "", nil
}

// evictionPolicies returns the policy of every primary.
func evictionPolicies(ctx context.Context, rdb redis.UniversalClient) ([]string, error) {
	cluster, isCluster := rdb.(*redis.ClusterClient)
	if !isCluster {
		policy, err := evictionPolicy(ctx, rdb)
		return []string{policy}, err
	}
	var (
		mu       sync.Mutex
		policies []string
	)
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		policy, err := evictionPolicy(ctx, node)
		mu.Lock()
		defer mu.Unlock()
		policies = append(policies, policy)
		return err
	})
	return policies, err
}

// evictionPolicy asks by INFO, which needs fewer rights than CONFIG.
func evictionPolicy(ctx context.Context, node redis.Cmdable) (string, error) {
	info, err := node.Info(ctx, "memory").Result()
	if err != nil {
		return "", fmt.Errorf("INFO memory (%s): %w", redisx.StateOf(err), err)
	}
	for line := range strings.Lines(info) {
		if policy, found := strings.CutPrefix(line, "maxmemory_policy:"); found {
			return strings.TrimSpace(policy), nil
		}
	}
	return "", errPolicyUnknown
}
