package finding

// Name is what the catalogue calls a code, for reasons of events; the code itself where the catalogue does not have it.
func (c Code) Name() string {
	if entry, ok := Lookup(c); ok {
		return entry.Name
	}
	return string(c)
}

// Severity is that of the catalogue; a warning where the catalogue does not have the code.
func (c Code) Severity() string {
	if entry, ok := Lookup(c); ok {
		return entry.Severity
	}
	return "warning"
}

// Remedy goes on after a message with what helps: a full stop and the fix of the catalogue.
func (c Code) Remedy() string {
	if entry, ok := Lookup(c); ok {
		return ". " + entry.Fix.English
	}
	return ""
}
