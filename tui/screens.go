package tui

import "slices"

// Screens that others open by name.
const (
	dashboardName    = "dashboard"
	nodesName        = "nodes"
	podsName         = "pods"
	workloadsName    = "workloads"
	chartName        = "chart"
	nodeName         = "node"
	podName          = "pod"
	workloadName     = "workload"
	timelineName     = "timeline"
	migrationsName   = "migrations"
	migrationName    = "migration"
	forecastName     = "forecast"
	quotasName       = "quotas"
	quotaScreenName  = "quota"
	reservationsName = "reservations"
	reservationName  = "reservation"
	gangsName        = "gangs"
	gangName         = "gang"
	workersName      = "workers"
	engineName       = "engine"
	devicesName      = "devices"
	deviceName       = "device"
	drainName        = "drain"
	capacityName     = "capacity"
	scaleName        = "scale"
	configName       = "config"
	settingName      = "setting"
	planName         = "plan"
	whatifName       = "whatif"
	checksName       = "checks"
	whyName          = "why"
	codeName         = "code"
	describeName     = "describe"
	yamlName         = "yaml"
	helpName         = "help"
)

// declared are the screens, one line each, in the order of the help and of the documentation. The workbench begins with the
// first.
var declared = []func(*Model) *screen{
	nodesScreen,
	dashboardScreen,
	podsScreen,
	workloadsScreen,
	chartScreen,
	nodeScreen,
	podScreen,
	workloadScreen,
	timelineScreen,
	migrationsScreen,
	migrationScreen,
	forecastScreen,
	quotasScreen,
	quotaScreen,
	reservationsScreen,
	reservationScreen,
	gangsScreen,
	gangScreen,
	workersScreen,
	engineScreen,
	devicesScreen,
	deviceScreen,
	drainScreen,
	capacityScreen,
	scaleScreen,
	configScreen,
	settingScreen,
	planScreen,
	whatifScreen,
	checksScreen,
	whyScreen,
	codeScreen,
	describeScreen,
	yamlScreen,
	helpScreen,
}

func (m *Model) declare() {
	for _, declare := range declared {
		m.screens = append(m.screens, declare(m))
	}
	m.home(m.screens[0].name)
}

// home leaves nothing on the stack but a screen.
func (m *Model) home(name string) { m.pages = []page{{screen: m.screenOf(name)}} }

// screenOf is the screen of a name; nil where there is none, which TestScreensOpenEachOther rules out.
func (m *Model) screenOf(name string) *screen {
	at := slices.IndexFunc(m.screens, func(s *screen) bool { return s.name == name })
	if at < 0 {
		return nil
	}
	return m.screens[at]
}
