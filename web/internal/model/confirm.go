package model

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// The bounds of a reason: MaxReasonText characters for who types it, and the API's own in bytes.
const (
	MaxReasonText  = 500
	maxReasonBytes = 1024
)

// Typed is what a form that confirms a change brought along.
type Typed struct {
	// Word is what had to be typed to confirm, Reason why the change is made.
	Word, Reason string
	// Once is the key under which the change is carried out once, Plan the print of the plan that
	// was shown.
	Once, Plan string
}

// Confirm is a form that asks for a change to be confirmed, by typing what it is about.
type Confirm struct {
	// Address is where the form is sent.
	Address string
	// Says is what the button says.
	Says string
	// Asks is the label of the field for the word, Word what has to be typed.
	Asks, Word string
	// Hidden are names and values of fields that go along.
	Hidden [][2]string
	Typed  Typed
	// WordRefusal and ReasonRefusal say what is wrong with what was typed; empty for nothing.
	WordRefusal, ReasonRefusal string
}

// Pattern is what the browser checks the word by, as a regular expression.
func (c Confirm) Pattern() string { return regexp.QuoteMeta(c.Word) }

// Checked returns the form with what is wrong with what was typed, and whether nothing is.
func (c Confirm) Checked() (Confirm, bool) {
	c.WordRefusal, c.ReasonRefusal = "", ""
	if c.Typed.Word != c.Word {
		c.WordRefusal = "Type exactly " + c.Word + ", so that it is not another one by mistake."
	}
	switch reason := c.Typed.Reason; {
	case strings.TrimSpace(reason) == "":
		c.ReasonRefusal = "Say why: the reason is kept with the change and in the audit."
	case utf8.RuneCountInString(reason) > MaxReasonText, len(reason) > maxReasonBytes:
		c.ReasonRefusal = "The reason is too long: at most 500 characters, and 1,024 bytes, are kept."
	case !utf8.ValidString(reason):
		c.ReasonRefusal = "The reason is no text."
	}
	return c, c.Good()
}

// Good tells whether nothing is wrong with what was typed, as far as it was checked.
func (c Confirm) Good() bool { return c.WordRefusal == "" && c.ReasonRefusal == "" }

// Refusal is why a change was not made.
type Refusal struct {
	// Code is the API's; empty where the console itself, or nobody, has answered.
	Code string
	Text string
	// Advice is what can be done about it; empty for nothing.
	Advice string
	// Address leads to what stands in the way, and is called Link; empty for nothing.
	Address, Link string
}

// NewRefusal says what the API's refusal of a change means.
func NewRefusal(code protocol.Code, message string) *Refusal {
	return &Refusal{Code: string(code), Text: message, Advice: changeAdvice(code)}
}

// NoAnswer is the refusal where the gateway did not answer, so that nobody knows what was done.
func NoAnswer() *Refusal {
	return &Refusal{
		Text:   "The gateway did not answer in time. The change may have been made or not.",
		Advice: "Send this form again as it is: it is carried out once, however often it is sent. Or look at the reshardings.",
	}
}

// changeAdvice says what can be done about the refusal of a change.
func changeAdvice(code protocol.Code) string {
	advice := map[string]string{
		string(protocol.CodeActiveMigrationExists):  "One resharding of a stream at a time: wait until it is over, or roll it back.",
		string(protocol.CodeMetadataSyncInProgress): "The members of a group are agreeing on its state, which takes them a lease at most. Try again in some seconds.",
		string(protocol.CodeStateVersionConflict):   "Somebody changes the stream at the same time. Try again when that is done.",
		string(protocol.CodeMetadataMissing):        "A group of the stream has to be repaired first; its page says how.",
		string(protocol.CodeMetadataCorrupt):        "A group of the stream has to be repaired first; its page says how.",
		string(protocol.CodeRedisNotConfigured):     "The coordinators run without provisioning: whoever runs them decides that.",
		string(protocol.CodeRateLimitExceeded):      "There were too many changes in a short time. Wait a minute and send it again.",
		string(protocol.CodeRollbackNotAllowed):     "What is over cannot be undone: scale the stream back instead.",
		string(protocol.CodeDrainNotConfirmable):    "Only a shard of which nothing but its lag is in doubt can be confirmed. The resharding shows what keeps it.",
		string(protocol.CodeIdempotencyKeyReused):   "This form was sent before with other words, and is not carried out a second time. See first what became of it.",
		string(protocol.CodeIdempotencyKeyInUse):    "This form was sent twice, and is being carried out. Send it again to see what became of it.",
	}[string(code)]
	if advice == "" && protocol.FaultOf(code).Retriable {
		return "Try again in a few seconds; the system page shows which part does not answer."
	}
	return advice
}
