package runtest_test

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/config"
)

// pod is what the containers of a part find: files below root, as the volumes put them there,
// and an environment. Paths in both begin with root.
type pod struct {
	root    string
	file    string
	environ []string
	spec    core.PodSpec
}

// schedule writes the volumes of a part to a directory. Secrets that the chart does not make
// come from outside, by their paths below /etc/rsc. The replacements are made in the
// configuration: addresses in the cluster become those of the test.
func schedule(t *testing.T, objects charttest.Objects, part string, outside map[string]string, replace ...string) pod {
	t.Helper()
	p := pod{root: t.TempDir()}
	for _, deployment := range charttest.All[*apps.Deployment](objects) {
		if deployment.Spec.Template.Labels["app.kubernetes.io/component"] == part {
			p.spec = deployment.Spec.Template.Spec
		}
	}
	require.NotEmpty(t, p.spec.Containers, part)
	main := p.spec.Containers[0]
	for _, mount := range main.VolumeMounts {
		for _, volume := range p.spec.Volumes {
			if volume.Name != mount.Name {
				continue
			}
			for path, text := range files(t, objects, volume, outside) {
				if volume.Name == "config" {
					text = strings.NewReplacer(replace...).Replace(p.inside(text))
				}
				p.write(t, filepath.Join(mount.MountPath, path), text)
			}
		}
	}
	for _, variable := range main.Env {
		p.environ = append(p.environ, variable.Name+"="+p.inside(variable.Value))
	}
	file, found := strings.CutPrefix(main.Args[0], "--config=")
	require.True(t, found, main.Args)
	p.file = filepath.Join(p.root, file)
	return p
}

// inside returns a text with the paths of volumes below root.
func (p pod) inside(text string) string {
	return strings.NewReplacer("/etc/rsc/", p.root+"/etc/rsc/", "/run/rsc/", p.root+"/run/rsc/").Replace(text)
}

func (p pod) write(t *testing.T, path, text string) {
	t.Helper()
	full := filepath.Join(p.root, path)
	require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
	require.NoError(t, os.WriteFile(full, []byte(text), 0o600))
}

// files returns what a volume holds, by path.
func files(t *testing.T, objects charttest.Objects, volume core.Volume, outside map[string]string) map[string]string {
	t.Helper()
	found := map[string]string{}
	switch {
	case volume.ConfigMap != nil && charttest.Has[*core.ConfigMap](objects, volume.ConfigMap.Name):
		for _, item := range volume.ConfigMap.Items {
			found[item.Path] = charttest.Named[*core.ConfigMap](t, objects, volume.ConfigMap.Name).Data[item.Key]
		}
	case volume.ConfigMap != nil:
		for _, item := range volume.ConfigMap.Items {
			found[item.Path] = outside[item.Path]
		}
	case volume.Secret != nil:
		for _, item := range volume.Secret.Items {
			found[item.Path] = outside[item.Path]
		}
	case volume.Projected != nil:
		for _, source := range volume.Projected.Sources {
			for _, item := range source.Secret.Items {
				text, known := outside[item.Path]
				if charttest.Has[*core.Secret](objects, source.Secret.Name) {
					text, known = string(charttest.Named[*core.Secret](t, objects, source.Secret.Name).Data[item.Key]), true
				}
				require.True(t, known, "nothing is known of %s", item.Path)
				found[item.Path] = text
			}
		}
	}
	return found
}

// load reads what the service of a pod would.
func load[T config.Validator](t *testing.T, p pod, defaults T, ignore []string) T {
	t.Helper()
	cfg, err := config.Load(defaults, config.Source{File: p.file, Environ: p.environ, Ignore: ignore})
	require.NoError(t, err)
	return cfg
}

// outsiders are the contents of the Secrets and ConfigMaps that values refer to.
func outsiders(t *testing.T) map[string]string {
	t.Helper()
	hash, err := auth.HashPassword("correct horse battery")
	require.NoError(t, err)
	return map[string]string{
		"redis/url": "redis://redis:6379", "redis/password": "secret of Redis", "redis/sentinel-password": "secret of sentinels",
		"postgres/url": "postgres://rsc:secret@postgres:5432/rsc?sslmode=require", "postgres/password": "secret of PostgreSQL",
		"traces-headers": "authorization=Bearer x", "token-secret": strings.Repeat("t", 48), "previous-token-secret": strings.Repeat("p", 48),
		"users.yaml": "- {username: ops, password-hash: \"" + hash + "\", roles: [WRITE]}\n", "ca.crt": authority(t),
	}
}

// authority returns the certificate of an authority.
func authority(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}
