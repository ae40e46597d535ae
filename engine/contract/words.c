#include "contract/words.h"

#include "contract/event.h"
#include "contract/fact.h"
#include "contract/jail_policy.h"
#include "contract/line.h"
#include "contract/outcome.h"

#include <string.h>

size_t words_find(const char *const words[], size_t count, const char *text)
{
	size_t i = 0;
	while (text && i < count && strcmp(words[i], text) != 0)
		i++;
	return text ? i : count;
}

WORDS_DEFINE(outcome, OUTCOMES, OUTCOME_COUNT)
WORDS_DEFINE(agent_event, AGENT_EVENTS, EVENT_COUNT)
WORDS_DEFINE(decision, DECISIONS, DECIDE_COUNT)
WORDS_DEFINE(audit_type, AUDIT_TYPES, AUDIT_TYPE_COUNT)
WORDS_DEFINE(waker, WAKERS, WAKER_COUNT)
WORDS_DEFINE(jail_access, JAIL_ACCESSES, JAIL_ACCESS_COUNT)
WORDS_DEFINE(jail_profile, JAIL_PROFILES, JAIL_PROFILE_COUNT)
WORDS_DEFINE(line_type, JOURNAL_LINES, LINE_TYPE_COUNT)
WORDS_DEFINE(notify_level, NOTIFY_LEVELS, NOTIFY_LEVEL_COUNT)
WORDS_DEFINE(end_cause, END_CAUSES, END_CAUSE_COUNT)
WORDS_DEFINE(stopper, STOPPERS, STOPPER_COUNT)
