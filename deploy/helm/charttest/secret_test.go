package charttest_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
)

const generated = "rel-rsc-gateway"

// secretsOf returns the generated Secret, and the cluster that has it.
func secretsOf(t *testing.T, values string, cluster *rest.Config) (*core.Secret, *rest.Config) {
	t.Helper()
	objects := charttest.Render(t, charttest.Values(t, "redis: {host: redis}\n"+values), cluster)
	secret := charttest.Named[*core.Secret](t, objects, generated)
	return secret, charttest.Cluster(t, secret)
}

func TestSecretsAreMadeOnceAndKeptByUpgrades(t *testing.T) {
	t.Parallel()
	installed, cluster := secretsOf(t, "", charttest.Cluster(t))
	require.Len(t, installed.Data["token-secret"], 48)
	require.Len(t, installed.Data["admin-password"], 24)
	require.NotContains(t, installed.Data, "previous-token-secret")

	upgraded, _ := secretsOf(t, "coordinator: {replicas: 3}", cluster)
	require.Equal(t, installed.Data, upgraded.Data)

	again, _ := secretsOf(t, "", charttest.Cluster(t))
	require.NotEqual(t, installed.Data["token-secret"], again.Data["token-secret"], "another installation has others")
	require.NotEqual(t, installed.Data["admin-password"], again.Data["admin-password"])
}

// gateway, Authentication: the previous secret is accepted during rotation.
func TestANewGenerationKeepsTheSecretOfBefore(t *testing.T) {
	t.Parallel()
	first, cluster := secretsOf(t, "", charttest.Cluster(t))
	const second = "gateway: {token: {generation: 2}}"
	rotated, cluster := secretsOf(t, second, cluster)
	require.NotEqual(t, first.Data["token-secret"], rotated.Data["token-secret"])
	require.Equal(t, first.Data["token-secret"], rotated.Data["previous-token-secret"])
	require.Equal(t, first.Data["admin-password"], rotated.Data["admin-password"])

	kept, cluster := secretsOf(t, second, cluster)
	require.Equal(t, rotated.Data, kept.Data, "the next upgrade makes no third one")
	third, _ := secretsOf(t, "gateway: {token: {generation: 3}}", cluster)
	require.Equal(t, rotated.Data["token-secret"], third.Data["previous-token-secret"])

	fresh, _ := secretsOf(t, second, charttest.Cluster(t))
	require.Len(t, fresh.Data["previous-token-secret"], 48, "a fresh installation of generation 2 starts too")
}

func TestANewTokenSecretReplacesTheGatewaysPods(t *testing.T) {
	t.Parallel()
	checksums := func(values string) map[string]string {
		found := map[string]string{}
		for _, deployment := range charttest.All[*apps.Deployment](charttest.Render(t, charttest.Values(t, "redis: {host: redis}\n"+values), nil)) {
			annotations := deployment.Spec.Template.Annotations
			found[deployment.Spec.Template.Labels["app.kubernetes.io/component"]] = annotations["checksum/config"] + annotations["checksum/secrets"]
		}
		return found
	}
	before, rotated := checksums(""), checksums("gateway: {token: {generation: 2}}")
	require.NotEqual(t, before["gateway"], rotated["gateway"])
	rotated["gateway"] = before["gateway"]
	require.Equal(t, before, rotated, "of the others none")

	for _, values := range []string{"settings: {log: {level: debug}}", "gateway: {shutdownSeconds: 30}"} {
		for name, checksum := range checksums(values) {
			require.NotEqual(t, before[name], checksum, "%s reads the file that %s changes", name, values)
		}
	}
	one, other := "store: {type: postgres, postgres: {host: p, password: one}}", "store: {type: postgres, postgres: {host: p, password: other}}"
	require.NotEqual(t, checksums(one)["coordinator"], checksums(other)["coordinator"], "so does a password in the values")
	require.Equal(t, checksums(one)["monitor"], checksums(other)["monitor"])
}

// Rendering twice gives the same, but for what is generated: a tool that compares sees no
// change where none is.
func TestRenderingTwiceGivesTheSame(t *testing.T) {
	t.Parallel()
	for name, values := range charttest.Sets(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, err := charttest.Manifests(values, nil)
			require.NoError(t, err)
			other, err := charttest.Manifests(values, nil)
			require.NoError(t, err)
			if name == "existing-secrets" {
				require.NotContains(t, one, "secret-generated.yaml")
			}
			delete(one, "secret-generated.yaml")
			delete(other, "secret-generated.yaml")
			require.Equal(t, one, other)
		})
	}
}

// Security: secrets are in Secrets only, and pods get them as files, not as variables.
func TestNoSecretIsAnywhereButInSecrets(t *testing.T) {
	t.Parallel()
	values := charttest.Values(t, `
redis: {addresses: ["s:1"], masterName: m, auth: {password: canary-redis, sentinelPassword: canary-sentinel}}
store: {type: postgres, postgres: {host: p, password: canary-postgres}}
gateway: {users: {list: [{username: ops, password-hash: $argon2id$canary-hash, roles: [READ]}]}}
`)
	sets := charttest.Sets(t)
	sets["canaries"] = values
	for name, values := range sets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := charttest.Render(t, values, nil)
			var all []string
			for _, secret := range charttest.All[*core.Secret](objects) {
				for _, value := range secret.Data {
					all = append(all, string(value), base64.StdEncoding.EncodeToString(value))
				}
			}
			for _, object := range objects {
				if object.Kind == "Secret" {
					continue
				}
				require.NotContains(t, object.Text, "canary", object.Value.GetName())
				for _, value := range all {
					require.NotContains(t, object.Text, value, object.Value.GetName())
				}
			}
			for _, deployment := range charttest.All[*apps.Deployment](objects) {
				for _, container := range containers(deployment.Spec.Template.Spec) {
					for _, variable := range container.Env {
						require.Nil(t, variable.ValueFrom, variable.Name)
						require.NotRegexp(t, "(SECRET|PASSWORD|HASH|URL|HEADERS)$", variable.Name)
					}
				}
			}
		})
	}
}
