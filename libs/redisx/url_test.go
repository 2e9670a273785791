package redisx

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestURLFormsSayWhereRedisIs(t *testing.T) {
	t.Parallel()
	cases := map[string]Options{
		"redis://localhost":                         {Addrs: []string{"localhost:6379"}},
		"redis://localhost:7000/3":                  {Addrs: []string{"localhost:7000"}, DB: 3},
		"redis://[::1]:7000":                        {Addrs: []string{"[::1]:7000"}},
		"redis://[::1]/2":                           {Addrs: []string{"[::1]:6379"}, DB: 2},
		"redis://u:p%40ss%2F@h":                     {Addrs: []string{"h:6379"}, Username: "u", Password: "p@ss/"},
		"redis://:secret@h":                         {Addrs: []string{"h:6379"}, Password: "secret"},
		"redis+cluster://a:7000,b:7001,c":           {Addrs: []string{"a:7000", "b:7001", "c:6379"}, Cluster: true},
		"redis+cluster://u:p@a/":                    {Addrs: []string{"a:6379"}, Cluster: true, Username: "u", Password: "p"},
		"redis+sentinel://a,b:26380/mymaster":       {Addrs: []string{"a:26379", "b:26380"}, MasterName: "mymaster"},
		"redis+sentinel://u:p@a,b,[::1]:1/master/4": {Addrs: []string{"a:26379", "b:26379", "[::1]:1"}, MasterName: "master", DB: 4, Username: "u", Password: "p"},
	}
	for raw, want := range cases {
		got, err := ParseURL(raw)
		require.NoError(t, err, raw)
		require.Equal(t, want, got, raw)

		secure, err := ParseURL(strings.Replace(raw, "redis", "rediss", 1))
		require.NoError(t, err, raw)
		require.NotNil(t, secure.TLS, raw)
		require.False(t, secure.TLS.InsecureSkipVerify)
		secure.TLS = nil
		require.Equal(t, want, secure, raw)
	}
}

func TestMalformedURLIsRefusedWithoutRepeatingIt(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"", "localhost:6379", "http://h", "redis+ring://h", "redis://", "redis://:6379", "redis://h:0",
		"redis://h:70000", "redis://h:x", "redis://a,b", "redis://h/x", "redis://h/-1", "redis+cluster://a/2",
		"redis+sentinel://a", "redis+sentinel://a/", "redis+sentinel://a/m/x", "redis://::1", "redis://h/1/2",
		"redis://u:hunter2/ss@h", "redis://u:hunter2?x@h", "redis://u:hunter2#x@h", "redis://u:hunter2%zz@h",
		"redis://u:hunter2@h:x", "redis://h?db=hunter2", "redis://a,,b",
	} {
		_, err := ParseURL(raw)
		require.ErrorIs(t, err, ErrOptions, raw)
		require.NotContains(t, err.Error(), "hunter2", raw)
	}
}

func TestOptionsThatContradictThemselvesAreRefused(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"nothing":            {},
		"url and addresses":  {URL: "redis://h", Addrs: []string{"h:1"}},
		"url and cluster":    {URL: "redis://h", Cluster: true},
		"bad url":            {URL: "h"},
		"cluster and master": {Addrs: []string{"h:1"}, Cluster: true, MasterName: "m"},
		"cluster database":   {Addrs: []string{"h:1"}, Cluster: true, DB: 1},
		"negative database":  {Addrs: []string{"h:1"}, DB: -1},
		"two standalones":    {Addrs: []string{"h:1", "h:2"}},
	} {
		_, err := New(o)
		require.ErrorIs(t, err, ErrOptions, name)
	}
}

func TestGivenSecretsWinOverThoseOfTheURL(t *testing.T) {
	t.Parallel()
	o, err := Options{URL: "redis://u:p@h:1/2", Password: "from-file"}.resolved()
	require.NoError(t, err)
	require.Equal(t, Options{Addrs: []string{"h:1"}, DB: 2, Username: "u", Password: "from-file"}, o)
}

func FuzzParseURL(f *testing.F) {
	f.Add("redis://u:p@h:1/2")
	f.Add("rediss+sentinel://a,b/m/1")
	f.Add("redis+cluster://[::1]:7000,b")
	f.Fuzz(func(t *testing.T, raw string) {
		o, err := ParseURL(raw)
		if err != nil {
			require.ErrorIs(t, err, ErrOptions)
			return
		}
		require.NotEmpty(t, o.Addrs)
		_, err = o.resolved()
		require.NoError(t, err)
	})
}
