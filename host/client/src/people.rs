//! People, members, and who one is. Inviting is never repeated blindly: the first token would be lost.

use assay_model::id::PersonId;
use assay_model::people::{
    AddMember, Member, MemberList, Person, PersonList, Role, Session, SetMember, SetPerson,
};
use reqwest::Method;

use crate::call::{Client, Repeat};
use crate::error::Error;
use crate::tenants::of_tenant;

impl Client {
    /// Who calls, as what.
    pub async fn session(&self) -> Result<Session, Error> {
        self.json(self.request(Method::GET, &["session"]), Repeat::Safe).await
    }

    pub async fn people(&self) -> Result<PersonList, Error> {
        self.json(self.request(Method::GET, &["people"]), Repeat::Safe).await
    }

    pub async fn set_person(&self, person: PersonId, change: &SetPerson) -> Result<Person, Error> {
        let request = self.request(Method::PATCH, &["people", &person.to_string()]);
        self.json(request.json(change), Repeat::Safe).await
    }

    /// The answer holds the invitation, this once.
    pub async fn invite_person(&self, person: PersonId) -> Result<Person, Error> {
        let request = self.request(Method::POST, &["people", &person.to_string(), "invitation"]);
        self.json(request, Repeat::Unsafe).await
    }

    /// Of the named tenant, or your own.
    pub async fn members(&self, tenant: Option<&str>) -> Result<MemberList, Error> {
        let request = self.request(Method::GET, &["members"]);
        self.json(of_tenant(request, tenant), Repeat::Safe).await
    }

    /// For who is new the answer holds an invitation, this once.
    pub async fn add_member(&self, member: &AddMember) -> Result<Member, Error> {
        self.json(self.request(Method::POST, &["members"]).json(member), Repeat::Unsafe).await
    }

    pub async fn set_role(
        &self,
        person: PersonId,
        tenant: Option<&str>,
        role: Role,
    ) -> Result<Member, Error> {
        let request = self.request(Method::PATCH, &["members", &person.to_string()]);
        self.json(of_tenant(request, tenant).json(&SetMember { role }), Repeat::Safe).await
    }

    pub async fn remove_member(&self, person: PersonId, tenant: Option<&str>) -> Result<(), Error> {
        let request = self.request(Method::DELETE, &["members", &person.to_string()]);
        self.send(of_tenant(request, tenant), Repeat::Unsafe).await.map(drop)
    }
}
