package gpu

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fake is a library of some GPUs.
type fake struct {
	devices []Device
	// lost GPUs have an identity and nothing else; count is what the library says, if not the number of devices.
	lost  map[string]bool
	count int
}

func (f *fake) Driver() (string, error) { return "1.2", nil }
func (f *fake) Count() (int, error) {
	if f.count != 0 {
		return f.count, nil
	}
	return len(f.devices), nil
}
func (f *fake) Describe(index int) (Device, error) {
	d := f.devices[index]
	return Device{Minor: d.Minor, UUID: d.UUID, Model: d.Model}, nil
}
func (f *fake) Use(index int, to *Device) error {
	if f.lost[to.UUID] {
		return errors.New("it is lost")
	}
	*to = f.devices[index]
	return nil
}

func TestAGPUThatIsLostRecovers(t *testing.T) {
	library := &fake{lost: map[string]bool{}, devices: []Device{{Minor: 1, UUID: "b", CoreUsed: 5}, {Minor: 0, UUID: "a", CoreUsed: 7}}}
	questions := strings.NewReader(strings.Repeat("\n", 5))
	var answers strings.Builder
	// step changes what the library says before an answer.
	step := 0
	steps := []func(){
		func() {}, func() { library.lost["b"] = true }, func() { library.devices = library.devices[1:] },
		func() {
			library.devices, library.lost["b"] = []Device{{Minor: 0, UUID: "a"}, {Minor: 1, UUID: "b"}}, false
		}, func() { library.count = 1000 },
	}
	err := Serve(library, readerFunc(func(p []byte) (int, error) {
		if step < len(steps) {
			steps[step]()
		}
		step++
		return questions.Read(p[:1])
	}), &answers)
	if err != nil {
		t.Fatal(err)
	}
	type seen struct {
		Problems [2]string
		Problem  string
	}
	var got []seen
	for line := range strings.Lines(answers.String()) {
		var answer Answer
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatal(err)
		}
		s := seen{Problem: answer.Problem}
		for _, device := range answer.Reading.Devices {
			s.Problems[device.Minor] = device.Problem
		}
		got = append(got, s)
	}
	want := []seen{
		{}, {Problems: [2]string{"", "it is lost"}}, {Problems: [2]string{"", "the driver does not see it any more"}}, {},
		{Problem: "count GPUs: there are 1000, more than 64"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestAProbeSurvivesItsProcess(t *testing.T) {
	answer := `{"reading":{"devices":[{"minor":0,"uuid":"a"}]}}`
	probe := &Probe{Program: "sh", Arguments: []string{"-c", "read x; echo '" + answer + "'; read x; echo none; read x"}}
	defer probe.Close()
	for i, want := range []string{"", "decode", "", "decode"} {
		got, err := probe.Ask(t.Context())
		if want == "" && (err != nil || len(got.Devices) != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("answer %d: %+v, %v, want %q", i, got, err, want)
		}
	}
	none := &Probe{Program: "/none"}
	if _, err := none.Ask(t.Context()); err == nil {
		t.Error("a program that does not exist answered")
	}
	ending := &Probe{Program: "true"}
	if _, err := ending.Ask(t.Context()); err == nil {
		t.Error("a program that ended answered")
	}
}
