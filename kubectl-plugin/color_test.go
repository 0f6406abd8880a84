package kubectlplugin

import (
	"testing"

	"koordinator.sh/koord/messages"
)

func TestColourFollowsTheFlagTheEnvironmentAndTheTerminal(t *testing.T) {
	terminal, pipe := Terminal{Output: true}, Terminal{}
	tests := map[string]struct {
		flag     string
		environ  map[string]string
		terminal Terminal
		want     bool
	}{
		"a terminal":                            {flag: "auto", terminal: terminal, want: true},
		"a pipe":                                {flag: "auto", terminal: pipe},
		"always, into a pipe":                   {flag: "always", terminal: pipe, want: true},
		"always, whatever NO_COLOR says":        {flag: "always", environ: map[string]string{"NO_COLOR": "1"}, terminal: pipe, want: true},
		"never, on a terminal":                  {flag: "never", terminal: terminal},
		"never, whatever CLICOLOR_FORCE says":   {flag: "never", environ: map[string]string{"CLICOLOR_FORCE": "1"}, terminal: terminal},
		"NO_COLOR of any value":                 {flag: "auto", environ: map[string]string{"NO_COLOR": "false"}, terminal: terminal},
		"an empty NO_COLOR":                     {flag: "auto", environ: map[string]string{"NO_COLOR": ""}, terminal: terminal, want: true},
		"NO_COLOR before CLICOLOR_FORCE":        {flag: "auto", environ: map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, terminal: terminal},
		"CLICOLOR_FORCE, into a pipe":           {flag: "auto", environ: map[string]string{"CLICOLOR_FORCE": "1"}, terminal: pipe, want: true},
		"CLICOLOR_FORCE of 0":                   {flag: "auto", environ: map[string]string{"CLICOLOR_FORCE": "0"}, terminal: pipe},
		"CLICOLOR_FORCE before a dumb terminal": {flag: "auto", environ: map[string]string{"CLICOLOR_FORCE": "1", "TERM": "dumb"}, terminal: terminal, want: true},
		"a dumb terminal":                       {flag: "auto", environ: map[string]string{"TERM": "dumb"}, terminal: terminal},
		"CLICOLOR of 0":                         {flag: "auto", environ: map[string]string{"CLICOLOR": "0"}, terminal: terminal},
		"CLICOLOR of 1":                         {flag: "auto", environ: map[string]string{"CLICOLOR": "1"}, terminal: pipe},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Style(tc.flag, false, func(name string) string { return tc.environ[name] }, tc.terminal)
			if got.Color != tc.want {
				t.Errorf("colour %t, want %t", got.Color, tc.want)
			}
		})
	}
}

func TestALocaleThatCannotShowMoreGetsASCII(t *testing.T) {
	tests := map[string]struct {
		flag     bool
		environ  map[string]string
		terminal Terminal
		want     bool
	}{
		"no locale":             {terminal: Terminal{Output: true}},
		"UTF-8":                 {environ: map[string]string{"LANG": "en_US.UTF-8"}, terminal: Terminal{Output: true}},
		"written otherwise":     {environ: map[string]string{"LANG": "zh_CN.utf8"}, terminal: Terminal{Output: true}},
		"C":                     {environ: map[string]string{"LANG": "C"}, terminal: Terminal{Output: true}, want: true},
		"Latin-1":               {environ: map[string]string{"LANG": "de_DE.ISO-8859-1"}, terminal: Terminal{Output: true}, want: true},
		"LC_ALL wins":           {environ: map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, terminal: Terminal{Output: true}, want: true},
		"LC_CTYPE before LANG":  {environ: map[string]string{"LANG": "C", "LC_CTYPE": "C.UTF-8"}, terminal: Terminal{Output: true}},
		"an empty LC_ALL":       {environ: map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": ""}, terminal: Terminal{Output: true}},
		"C, into a pipe":        {environ: map[string]string{"LANG": "C"}},
		"the flag, into a pipe": {flag: true, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Style("auto", tc.flag, func(name string) string { return tc.environ[name] }, tc.terminal)
			if got.ASCII != tc.want {
				t.Errorf("ASCII %t, want %t", got.ASCII, tc.want)
			}
		})
	}
}

func TestTheLastOfSeveralVariablesCounts(t *testing.T) {
	o := Options{Environ: []string{"TERM=xterm", "EMPTY=", "TERM=dumb", "PATH=/bin"}}
	for name, want := range map[string]string{"TERM": "dumb", "EMPTY": "", "PATH": "/bin", "NOPE": "", "TER": ""} {
		if got := o.Getenv(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestCodesAreExplainedInTheLanguageOfTheLocale(t *testing.T) {
	tests := map[string]struct {
		flag    string
		environ []string
		ascii   bool
		want    messages.Language
	}{
		"no locale":           {want: messages.English},
		"English":             {environ: []string{"LANG=en_US.UTF-8"}, want: messages.English},
		"Chinese":             {environ: []string{"LANG=zh_CN.UTF-8"}, want: messages.Chinese},
		"another language":    {environ: []string{"LANG=fr_FR.UTF-8"}, want: messages.English},
		"LC_ALL wins":         {environ: []string{"LANG=zh_CN.UTF-8", "LC_ALL=C"}, want: messages.English},
		"LC_MESSAGES too":     {environ: []string{"LANG=en_US.UTF-8", "LC_MESSAGES=zh_TW.UTF-8"}, want: messages.Chinese},
		"KOORD_LANG wins":     {environ: []string{"LANG=en_US.UTF-8", "KOORD_LANG=zh"}, want: messages.Chinese},
		"KOORD_LANG, English": {environ: []string{"LANG=zh_CN.UTF-8", "KOORD_LANG=en"}, want: messages.English},
		"the flag wins":       {flag: "en", environ: []string{"LANG=zh_CN.UTF-8"}, want: messages.English},
		"the flag, Chinese":   {flag: "zh", want: messages.Chinese},
		"what can be drawn":   {environ: []string{"LANG=zh_CN.UTF-8"}, ascii: true, want: messages.English},
		"unless asked for":    {flag: "zh", ascii: true, want: messages.Chinese},
		"an empty LC_ALL":     {environ: []string{"LC_ALL=", "LANG=zh_CN.UTF-8"}, want: messages.Chinese},
		"nothing but a code":  {environ: []string{"LANG=zh"}, want: messages.Chinese},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := &codesOptions{lang: tc.flag}
			if got := o.language(&session{Options: Options{Environ: tc.environ}, color: "auto", ascii: tc.ascii}); got != tc.want {
				t.Errorf("language %q, want %q", got, tc.want)
			}
		})
	}
}
