package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// committed is the page that people read.
var committed = filepath.Join("..", "..", "docs", "licences.md")

// reliability 5, Supply chain: a dependency licence list.
func TestEveryModuleHasALicenceThatIsTaken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "licences.md")
	var problems strings.Builder
	require.Zero(t, run(t.Context(), []string{"-out", path}, &problems), problems.String())
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(want), "| github.com/redis/go-redis/v9 | BSD |")
	require.NotContains(t, string(want), "testify", "what only tests use is not shipped")
	got, err := os.ReadFile(committed)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "what is shipped has changed: run make generate")
	require.Equal(t, 2, run(t.Context(), []string{"-out", filepath.Join(path, "below")}, io.Discard))
}

func TestTextsAreClassifiedByWhatTheySay(t *testing.T) {
	t.Parallel()
	const mit = "Permission is hereby granted, free of charge, to any\n person obtaining a copy of this software, to deal without restriction"
	for text, want := range map[string]struct {
		taken   []string
		refused bool
	}{
		mit: {[]string{"MIT"}, false},
		"Apache License\n   Version 2.0, January 2004 … " + mit:                                                               {[]string{"Apache-2.0", "MIT"}, false},
		"Mozilla Public License Version 2.0 " + strings.Repeat("x", heading) + " GNU General Public License":                  {[]string{"MPL-2.0"}, false},
		"Permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted": {[]string{"ISC"}, false},
		"Redistribution and use in source and binary forms … Redistributions in binary form must reproduce":                   {[]string{"BSD"}, false},
		"GNU GENERAL PUBLIC LICENSE Version 3":                                                                                {nil, true},
		"                    GNU AFFERO GENERAL PUBLIC":                                                                       {nil, true},
		"Business Source License 1.1":                                                                                         {nil, true},
		"\"Commons Clause\" License Condition v1.0 … " + mit:                                                                  {[]string{"MIT"}, true},
		"this product includes software developed by someone":                                                                 {nil, false},
		"": {nil, false},
	} {
		taken, refused := classify(text)
		require.Equal(t, want.taken, taken, text)
		require.Equal(t, want.refused, refused, text)
	}
}

func TestAModuleWithoutALicenceIsAProblem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, problem string }{
		"LICENSE":    {"all rights reserved", "no licence that is known"},
		"COPYING.md": {"GNU General Public License version 2", "not taken, in COPYING.md"},
		"NOTICE":     {"Permission is hereby granted, free of charge, to any person obtaining a copy", "no licence that is known"},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(c.text), 0o600))
		found, err := look("example.org/m", dir)
		require.NoError(t, err)
		require.Contains(t, found.problem(), c.problem)
	}
	_, err := look("example.org/m", filepath.Join(t.TempDir(), "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
