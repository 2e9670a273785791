package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// mostPage bounds what is read of an answer, in bytes.
const mostPage = 8 << 20

// console waits for the page with the login, which the gateway passes on.
func (s *Suite) console(ctx context.Context) (string, error) { return await(ctx, s.login) }

func (s *Suite) login(ctx context.Context) (string, error) {
	page, err := s.get(ctx, s.Gateway+"/console/login")
	switch {
	case err != nil:
		return "", err
	case !strings.Contains(page, "<form"):
		return "", fmt.Errorf("the page has no form: %.200q", page)
	}
	return fmt.Sprintf("200, %d bytes with a form", len(page)), nil
}

func (s *Suite) grafana(ctx context.Context) (string, error) {
	return await(ctx, func(ctx context.Context) (string, error) { return s.get(ctx, s.Grafana+"/api/health") })
}

// scraped waits until every target of the jobs is up and a series of the suite is there.
func (s *Suite) scraped(ctx context.Context) (string, error) { return await(ctx, s.targets) }

func (s *Suite) targets(ctx context.Context) (string, error) {
	up, err := s.query(ctx, "up")
	if err != nil {
		return "", err
	}
	targets := map[string]int{}
	for _, target := range up {
		if target.value != "1" && slices.Contains(s.Jobs, target.labels["job"]) {
			return "", fmt.Errorf("%s of %s is down", target.labels["instance"], target.labels["job"])
		}
		targets[target.labels["job"]]++
	}
	for _, job := range s.Jobs {
		if targets[job] == 0 {
			return "", fmt.Errorf("no target of %s was scraped yet", job)
		}
	}
	series, err := s.query(ctx, `count({__name__=~"redis_stream_coord_.+"})`)
	switch {
	case err != nil:
		return "", err
	case len(series) == 0:
		return "", errors.New("no redis_stream_coord_ series was scraped yet")
	}
	return fmt.Sprintf("%d targets are up, %s series", len(up), series[0].value), nil
}

// sample is one value of Prometheus.
type sample struct {
	labels map[string]string
	value  string
}

// query asks Prometheus for the present values of an expression.
func (s *Suite) query(ctx context.Context, expression string) ([]sample, error) {
	text, err := s.get(ctx, s.Prometheus+"/api/v1/query?query="+url.QueryEscape(expression))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string `json:"metric"`
				Value  [2]any            `json:"value"`
			} `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return nil, fmt.Errorf("read the answer of Prometheus: %w", err)
	}
	samples := make([]sample, len(answer.Data.Result))
	for i, result := range answer.Data.Result {
		samples[i] = sample{labels: result.Metric, value: fmt.Sprint(result.Value[1])}
	}
	return samples, nil
}

// get returns what is at the address, which has to answer 200.
func (s *Suite) get(ctx context.Context, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", fmt.Errorf("ask %s: %w", address, err)
	}
	answer, err := s.HTTP.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostPage))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", address, err)
	case answer.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s answers %s: %.200s", address, answer.Status, text)
	}
	return string(text), nil
}
