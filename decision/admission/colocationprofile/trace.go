package colocationprofile

import "koordinator.sh/koord/decision/admission/prodovercommit"

// Outcome of one profile, one field or one amount.
type Outcome string

const (
	// Applied profiles changed the pod or found it as they would have made it.
	Applied Outcome = "Applied"
	// NotSelected profiles do not select the pod or its namespace.
	NotSelected Outcome = "NotSelected"
	// NotDrawn profiles select the pod, but their probability spared it.
	NotDrawn Outcome = "NotDrawn"
	// Invalid profiles cannot be applied to any pod.
	Invalid Outcome = "Invalid"
	// Exempt pods lie in a namespace that no profile may change.
	Exempt Outcome = "Exempt"
	// Changed fields and amounts have another value than before.
	Changed Outcome = "Changed"
	// Unchanged fields already had the value.
	Unchanged Outcome = "Unchanged"
	// Left fields and amounts could not be changed; the reason says why.
	Left Outcome = "Left"
)

// Trace says what happened and why.
type Trace struct {
	// Profiles lists every profile by name, in the order in which they apply.
	Profiles []ProfileTrace `json:"profiles,omitempty"`
	// Tier is koord-batch or koord-mid when the pod's resources belong there; empty otherwise.
	Tier string `json:"tier,omitempty"`
	// Resources says what became of the pod's resources as a whole.
	Resources string `json:"resources"`
	// Amounts lists every amount that was moved to the tier, and those that were left.
	Amounts []Change `json:"amounts,omitempty"`
	// Overcommit says which requests of a prod pod follow from its limits; nil when no factor is in force.
	Overcommit *prodovercommit.Trace `json:"overcommit,omitempty"`
}

// ProfileTrace is what became of one profile.
type ProfileTrace struct {
	// Name of the profile.
	Name string `json:"name"`
	// Outcome is Applied, NotSelected, NotDrawn, Invalid or Exempt.
	Outcome Outcome `json:"outcome"`
	// Reason says why the profile did not apply; empty when it did.
	Reason string `json:"reason,omitempty"`
	// Changes lists the fields in the order in which they were set.
	Changes []Change `json:"changes,omitempty"`
}

// Change is what became of one field.
type Change struct {
	// Field is its path in the pod.
	Field string `json:"field"`
	// Outcome is Changed, Unchanged or Left.
	Outcome Outcome `json:"outcome"`
	// Before and After are the values; empty when the field is absent.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Reason says why a field was left, or where an amount came from.
	Reason string `json:"reason,omitempty"`
}
