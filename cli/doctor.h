/* doctor.h -- the doctor's parts: doctor.c looks at RDMA, doctor_costs.c measures costs. */
#ifndef NAM_CLI_DOCTOR_H
#define NAM_CLI_DOCTOR_H

#include "cli.h"

#include <stdbool.h>

/* Takes some 0.3 s. False: the network's were not measured, doctor_costs_said() says why. */
bool doctor_costs_measure(const char *storage, const char *secret_file);
const char *doctor_costs_said(void);
/* Lines; a JSON object. */
void doctor_costs_text(void);
void doctor_costs_json(void);

#endif
