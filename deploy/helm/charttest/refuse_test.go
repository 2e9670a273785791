package charttest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
)

// refusals are values that must not be installed, by a name; want is what the message says: the
// key, and for what no schema says, what to do.
func refusals() map[string]struct{ values, want string } {
	const redis = "redis: {host: redis}\n"
	return map[string]struct{ values, want string }{
		"nothing says where Redis is": {"{}", "set redis.host"},
		"unknown key":                 {redis + "replicas: 3", "replicas"},
		"unknown key of a part":       {redis + "coordinator: {replica: 3}", "replica"},
		"unknown setting":             {redis + "settings: {coordination: {heartbeat: 1s}}", "heartbeat"},
		"unknown section":             {redis + "settings: {coordinator: {}}", "coordinator"},
		"setting of the chart":        {redis + "settings: {gateway: {listen: ':1'}}", "listen"},
		"secret as a setting":         {redis + "settings: {api: {token-secret: x}}", "token-secret"},
		"development":                 {redis + "settings: {api: {dev: true}}", "dev"},
		"setting of a wrong type":     {redis + "settings: {limits: {max-shards: many}}", "settings/limits/max-shards"},
		"duration without a unit":     {redis + "settings: {coordination: {heartbeat-interval: '5'}}", "settings/coordination/heartbeat-interval"},
		"no coordinator":              {redis + "coordinator: {replicas: 0}", "coordinator/replicas"},
		"no gateway":                  {redis + "gateway: {replicas: 0}", "gateway/replicas"},
		"replicas as a text":          {redis + "monitor: {replicas: '2'}", "monitor/replicas"},
		"no time to end":              {redis + "web: {shutdownSeconds: 0}", "web/shutdownSeconds"},
		"budget that lets none go":    {redis + "web: {pdb: {maxUnavailable: 0}}", "web/pdb/maxUnavailable"},
		"labels of the chart":         {redis + "gateway: {podLabels: {app.kubernetes.io/name: mine}}", "app.kubernetes.io/name"},
		"port out of range":           {"redis: {host: redis, port: 70000}", "redis/port"},
		"host with a scheme":          {"redis: {host: 'redis://redis'}", "redis/host"},
		"address without a port":      {"redis: {addresses: [redis-0], cluster: true}", "redis/addresses/0"},
		"URL of another kind":         {"redis: {url: 'http://u:hunter2@redis'}", "redis.url must begin with"},
		"metadata in memory":          {redis + "store: {type: memory}", "store/type"},
		"password that is no hash":    {redis + "gateway: {users: {list: [{username: a, password-hash: hunter2, roles: [READ]}]}}", "gateway.users.list[0].password-hash"},
		"plain password":              {redis + "gateway: {users: {list: [{username: a, password: hunter2, roles: [READ]}]}}", "password"},
		"role that nobody knows":      {redis + "gateway: {users: {list: [{username: a, password-hash: $argon2id$, roles: [ROOT]}]}}", "gateway/users/list/0/roles/0"},
		"ingress path":                {redis + "ingress: {path: console}", "ingress/path"},
		"scrape interval":             {redis + "monitoring: {serviceMonitor: {interval: often}}", "monitoring/serviceMonitor/interval"},
		"policy that is no peer":      {redis + "networkPolicy: {clients: [{pods: {}}]}", "networkPolicy/clients/0"},

		"URL and Secret":                {"redis: {url: 'redis://a', existingSecret: b}", "redis.url and redis.existingSecret are set together: use one"},
		"host and addresses":            {"redis: {host: a, addresses: ['a:1'], cluster: true}", "redis.host and redis.addresses are set together"},
		"URL and cluster":               {"redis: {url: 'redis://a', cluster: true}", "redis.url says all of the place: leave redis.cluster"},
		"cluster and sentinels":         {"redis: {addresses: ['a:1'], cluster: true, masterName: m}", "a Redis Cluster has no sentinels"},
		"database of a cluster":         {"redis: {addresses: ['a:1'], cluster: true, database: 1}", "redis.database"},
		"addresses of what":             {"redis: {addresses: ['a:1']}", "redis.addresses needs redis.cluster, or redis.masterName"},
		"two passwords":                 {"redis: {host: a, auth: {password: hunter2, existingSecret: b}}", "redis.auth.password and redis.auth.existingSecret"},
		"two sentinel passwords":        {"redis: {host: a, auth: {sentinelPassword: hunter2, existingSecret: b}}", "redis.auth.sentinelPasswordKey"},
		"two authorities":               {"redis: {host: a, tls: {enabled: true, caSecret: b, caConfigMap: c}}", "redis.tls.caSecret and redis.tls.caConfigMap"},
		"authorities without TLS":       {"redis: {host: a, tls: {caSecret: b}}", "without redis.tls.enabled"},
		"PostgreSQL nowhere":            {redis + "store: {type: postgres}", "set store.postgres.host"},
		"PostgreSQL for nothing":        {redis + "store: {postgres: {host: p}}", "set store.type to postgres"},
		"PostgreSQL of another kind":    {redis + "store: {type: postgres, postgres: {url: 'jdbc:u:hunter2@p'}}", "store.postgres.url must begin with"},
		"PostgreSQL twice":              {redis + "store: {type: postgres, postgres: {host: p, url: 'postgres://p/d'}}", "store.postgres.url is set together with"},
		"PostgreSQL's password twice":   {redis + "store: {type: postgres, postgres: {host: p, password: hunter2, existingSecret: s}}", "store.postgres.password and store.postgres.existingSecret"},
		"authorities that are not used": {redis + "store: {type: postgres, postgres: {host: p, tlsMode: prefer, caSecret: s}}", "use verify-full"},
		"audit nowhere":                 {redis + "settings: {audit: {sink: postgres}}", "settings.audit.sink is postgres and nothing says where it is: set audit.postgres.host"},
		"audit for nothing":             {redis + "audit: {postgres: {host: p}}", "set settings.audit.sink to postgres"},
		"audit's password twice":        {redis + "settings: {audit: {sink: postgres}}\naudit: {postgres: {host: p, password: hunter2, existingSecret: s}}", "audit.postgres.password and audit.postgres.existingSecret"},
		"users twice":                   {redis + "gateway: {users: {existingSecret: s, list: [{username: a, password-hash: $argon2id$, roles: [READ]}]}}", "gateway.users.list and gateway.users.existingSecret"},
		"previous secret of nothing":    {redis + "gateway: {token: {previousKey: old}}", "raise gateway.token.generation"},
		"generation of a given secret":  {redis + "gateway: {token: {existingSecret: s, generation: 2}}", "gateway.token.previousKey"},
		"logouts of one gateway":        {redis + "settings: {api: {rate-limit: {store: local}}}", "settings.api.rate-limit.store is local"},
		"ingress without a host":        {redis + "ingress: {enabled: true}", "ingress.host"},
	}
}

func TestWrongValuesAreRefusedByTheNameOfTheirKey(t *testing.T) {
	t.Parallel()
	for name, refusal := range refusals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := charttest.Manifests(charttest.Values(t, refusal.values), nil)
			require.ErrorContains(t, err, refusal.want)
			require.NotContains(t, err.Error(), "hunter2", "a refusal repeats no password")
		})
	}
}
