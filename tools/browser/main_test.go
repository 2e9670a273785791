package browser_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"
)

var (
	// program is the suite in one process, replay has consumers that can be killed.
	program, replay string
	// chromium returns the context of the browser, whose children are windows.
	chromium func() context.Context
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// run builds the program and starts the browser, once for all tests.
func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "rsc-browser-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program, replay = filepath.Join(dir, "standalone"), filepath.Join(dir, "replay")
	for module, pkg := range map[string]string{filepath.Join("services", "standalone"): "./cmd/standalone", "examples": "./replay"} {
		build := exec.Command("go", "build", "-buildvcs=false", "-o", dir+string(filepath.Separator), pkg)
		build.Dir = filepath.Join("..", "..", module)
		if output, err := build.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("build %s: %w\n%s", pkg, err, output)
		}
	}
	windows, end, err := startChromium(dir)
	if err != nil {
		return 1, err
	}
	chromium = func() context.Context { return windows }
	code := m.Run()
	end()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			return 1, err
		}
	}
	return code, nil
}

// startChromium starts the browser with a profile below dir, and returns its context. The
// function ends it and waits for that.
func startChromium(dir string) (context.Context, func(), error) {
	path, err := findChromium()
	if err != nil {
		return nil, nil, err
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(dir, "profile")),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", false), chromedp.Flag("lang", "en-GB"), chromedp.Env("TZ=Europe/Vienna"),
	)...)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		closeBrowser()
		end()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	return ctx, func() {
		closeBrowser()
		end()
	}, nil
}

func findChromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no chromium in PATH; on Debian: sudo apt-get install -y chromium fonts-dejavu-core")
}
