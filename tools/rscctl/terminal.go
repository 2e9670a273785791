package main

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/term"
)

// secret asks at the terminal for what is not shown while it is typed. The terminal shows
// again what is typed when it returns, also when ctx ends before.
func secret(ctx context.Context, prompt string) (string, error) {
	input := int(os.Stdin.Fd())
	before, err := term.GetState(input)
	if err != nil {
		return "", fmt.Errorf("look at the terminal: %w", err)
	}
	fmt.Fprint(os.Stderr, prompt)
	defer fmt.Fprintln(os.Stderr) // the end of the line was not shown either
	type typed struct {
		text []byte
		err  error
	}
	read := make(chan typed, 1)
	go func() { // a read of a terminal cannot be interrupted
		text, err := term.ReadPassword(input)
		read <- typed{text, err}
	}()
	select {
	case got := <-read:
		return string(got.text), got.err
	case <-ctx.Done():
		_ = term.Restore(input, before)
		return "", ctx.Err()
	}
}
