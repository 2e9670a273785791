package main

import "strings"

// heading is how much of a text may name the licence that it is, in bytes: MPL 2.0 speaks of the
// GPL further down.
const heading = 400

// classify returns which of the licences that are taken a text holds, and whether it is one that
// is not. A text that is neither, a notice for example, is nothing.
func classify(text string) (taken []string, refused bool) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, known := range []struct {
		name string
		says []string
	}{
		{"Apache-2.0", []string{"apache license", "version 2.0"}},
		{"MPL-2.0", []string{"mozilla public license version 2.0"}},
		{"MPL-2.0", []string{"mozilla public license, version 2.0"}},
		{"MIT", []string{"permission is hereby granted, free of charge, to any person obtaining a copy", "without restriction"}},
		{"ISC", []string{"permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted"}},
		{"ISC", []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"}},
		{"BSD", []string{"redistribution and use in source and binary forms", "redistributions in binary form must reproduce"}},
	} {
		if all(text, known.says) {
			taken = append(taken, known.name)
		}
	}
	begin := text[:min(len(text), heading)]
	for _, foreign := range []string{"gnu general public", "gnu lesser general", "gnu library general", "gnu affero", "server side public", "business source", "elastic license", "redis source available"} {
		refused = refused || strings.Contains(begin, foreign)
	}
	return taken, refused || strings.Contains(text, "commons clause")
}

func all(text string, phrases []string) bool {
	for _, phrase := range phrases {
		if !strings.Contains(text, phrase) {
			return false
		}
	}
	return true
}
