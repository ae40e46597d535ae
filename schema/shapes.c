#include "schema/table.h"
#include <math.h>

#include "case_shape.h"
#include "config_shape.h"
#include "machine_shape.h"
#include "secrets_shape.h"
#include "tools_shape.h"

const struct shape *const shape_machine = &machine_shape;
const struct shape *const shape_config = &config_shape;
const struct shape *const shape_case = &case_shape;
const struct shape *const shape_tools = &tools_shape;
const struct shape *const shape_secrets = &secrets_shape;
const char *const shape_config_defaults = config_defaults;
