// Package reason is what a plugin says about its own refusals beyond the text of a status, and what it proposes to lift
// them. The explain engine asks; the scheduler never does.
package reason
