package cpuset

import "testing"

// FuzzParse: a list of CPUs is parsed in bounded memory, and what it says is written the same way again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"0-3,5", "", "0-999999999", "3-1", "-1", "1,,2", "0-9223372036854775807", "00,01", " 1", "1-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		set, err := Parse(list)
		if err != nil {
			return
		}
		again, err := Parse(set.String())
		if err != nil || !again.Equal(set) || again.Len() != set.Len() {
			t.Errorf("%q is %s, and that is %s, %v", list, set, again, err)
		}
	})
}
