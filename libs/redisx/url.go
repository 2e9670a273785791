package redisx

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

const (
	redisPort    = "6379"
	sentinelPort = "26379"
)

// ParseURL reads one of
//
//	redis://[user:password@]host[:port][/db]
//	redis+cluster://[user:password@]host[:port][,host[:port]…]
//	redis+sentinel://[user:password@]host[:port][,host[:port]…]/master[/db]
//
// where rediss in place of redis means TLS 1.2 or newer. User and password are
// percent-encoded and belong to the data servers. Ports default to 6379, those of
// sentinels to 26379. It fails with ErrOptions, without repeating the URL, which
// may hold a password.
func ParseURL(raw string) (Options, error) {
	scheme, rest, found := strings.Cut(raw, "://")
	if !found {
		return Options{}, fmt.Errorf("%w: a URL begins with redis://", ErrOptions)
	}
	base, kind, _ := strings.Cut(scheme, "+")
	var o Options
	switch base {
	case "redis":
	case "rediss":
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	default:
		return Options{}, fmt.Errorf("%w: URL scheme %.32q", ErrOptions, scheme)
	}
	if strings.ContainsAny(rest, "?#") {
		return Options{}, fmt.Errorf("%w: a URL takes no query or fragment; percent-encode ? and # in a password", ErrOptions)
	}
	authority, path, _ := strings.Cut(rest, "/")
	hosts, err := o.takeUser(authority)
	if err != nil {
		return Options{}, err
	}
	return o.takePlace(kind, hosts, path)
}

// takeUser fills in user and password and returns what is left: the hosts.
func (o *Options) takeUser(authority string) (string, error) {
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return authority, nil
	}
	user, password, _ := strings.Cut(authority[:at], ":")
	var errs [2]error
	o.Username, errs[0] = url.PathUnescape(user)
	o.Password, errs[1] = url.PathUnescape(password)
	if errs[0] != nil || errs[1] != nil {
		return "", fmt.Errorf("%w: user or password of the URL is not percent-encoded", ErrOptions)
	}
	return authority[at+1:], nil
}

// takePlace fills in addresses, master name and database by the kind of the scheme.
func (o Options) takePlace(kind, hosts, path string) (Options, error) {
	port, db := redisPort, path
	switch kind {
	case "":
	case "cluster":
		o.Cluster = true
	case "sentinel":
		port = sentinelPort
		o.MasterName, db, _ = strings.Cut(path, "/")
		if o.MasterName == "" {
			return Options{}, fmt.Errorf("%w: a sentinel URL names the master after the hosts", ErrOptions)
		}
	default:
		return Options{}, fmt.Errorf("%w: URL kind %.32q is neither cluster nor sentinel", ErrOptions, kind)
	}
	if db != "" {
		number, err := strconv.Atoi(db)
		if err != nil || number < 0 {
			return Options{}, fmt.Errorf("%w: the database of the URL is not a number", ErrOptions)
		}
		o.DB = number
	}
	for host := range strings.SplitSeq(hosts, ",") {
		addr, err := address(host, port)
		if err != nil {
			return Options{}, err
		}
		o.Addrs = append(o.Addrs, addr)
	}
	return o.resolved()
}

// address completes a host with a port. Errors do not repeat it: an unescaped
// slash in a password would make the password look like a host.
func address(host, port string) (string, error) {
	if name, given, err := net.SplitHostPort(host); err == nil {
		number, err := strconv.ParseUint(given, 10, 16)
		if err != nil || number == 0 || name == "" {
			return "", fmt.Errorf("%w: an address of the URL is not host:port", ErrOptions)
		}
		return host, nil
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if bare == "" || strings.ContainsAny(bare, "[] ") || (bare == host && strings.Contains(host, ":")) {
		return "", fmt.Errorf("%w: an address of the URL is not host:port", ErrOptions)
	}
	return net.JoinHostPort(bare, port), nil
}
